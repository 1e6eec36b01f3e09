package proc

import (
	"errors"
	"time"
)

// pollSoon is the same for few and for many: each takes a handle that is opened and closed.
const pollSoon = time.Second

var errNotices = errors.New("this system does not tell of many deaths at once") // WaitForMultipleObjects ends at 64

func openNotices() (notices, error) { return nil, errNotices }
