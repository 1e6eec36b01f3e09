package state

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCertificateAtAnyTime(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	cert, ca := mustCertificate(t, d)
	data, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		t.Fatalf("no certificate in %s", ca)
	}
	for year, valid := range map[int]bool{1999: false, 2001: true, 2026: true, 2300: true, 9998: true} {
		_, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.1", CurrentTime: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)})
		if valid != (err == nil) {
			t.Errorf("in %d: %v", year, err)
		}
	}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "192.0.2.1"}); err == nil {
		t.Error("it is valid for another address")
	}
	if _, other := mustCertificate(t, mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})); other == ca {
		t.Error("two folders share a certificate")
	}
}

func TestCertificateIsKept(t *testing.T) {
	d := mustClaim(t, filepath.Join(t.TempDir(), "state"), Claiming{})
	first, _ := mustCertificate(t, d)
	if again, _ := mustCertificate(t, d); !bytes.Equal(first.Certificate[0], again.Certificate[0]) {
		t.Error("the certificate changed")
	}
	// A start that ended between the two halves.
	public, _, err := makeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	write(t, d.file(caFile), string(public))
	mustCertificate(t, d)
	if _, err := tls.LoadX509KeyPair(d.file(caFile), d.file(tlsFile)); err != nil {
		t.Errorf("halves that do not fit were left: %v", err)
	}
}

func mustCertificate(t *testing.T, d *Dir) (tls.Certificate, string) {
	t.Helper()
	cert, ca, err := d.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	return cert, ca
}
