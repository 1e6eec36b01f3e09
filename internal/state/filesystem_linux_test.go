package state

import "testing"

// The numbers are those of statfs(2).
func TestFileSystemNames(t *testing.T) {
	for magic, refused := range map[uint32]bool{
		0x6969: true, 0x517B: true, 0xFF534D42: true, 0xFE534D42: true, 0x01021997: true, // nfs, smb, cifs, smb2, 9p
		0x65735546: false, 0xEF53: false, 0x01021994: false, 0x9123683E: false, 0x794c7630: false, // fuse, ext4, tmpfs, btrfs, overlay
	} {
		if err := refuseNetwork("/s", fsName(magic)); (err != nil) != refused {
			t.Errorf("%#x is %s: %v", magic, fsName(magic), err)
		}
	}
	if fsType(t.TempDir()) == "" {
		t.Error("the file system of the temporary folder has no type")
	}
}
