package claude

import "github.com/fsnotify/fsnotify"

func openNotices() (*fsnotify.Watcher, error) { return nil, errOpensFiles }
