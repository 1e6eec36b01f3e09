//go:build !darwin

package claude

import "github.com/fsnotify/fsnotify"

func openNotices() (*fsnotify.Watcher, error) { return fsnotify.NewWatcher() }
