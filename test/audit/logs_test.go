package audit

import (
	"maps"

	"peerbus/events"
)

func goodLogs() map[string]*log {
	life := func() *log {
		return begun(appeared(), becameBusy(), present(busy), gone(events.Exited, busy), appeared())
	}
	switching := begun(appeared())
	switching.later(switchedTo("b")).add(appeared(session("b")))
	blind := begun(appeared(), appeared(session("b"), func(p *events.Peer) { p.PID++ }))
	blind.at += 5000
	blind.add(resumed(blind.at-5000, blind.at)).add(missed(blind.at - 5000)).later(gone(events.Exited, session("b"), func(p *events.Peer) { p.PID++ }))
	twice := begun(appeared())
	twice.at += 5000
	twice.add(events.WatchResumed{BlindFrom: twice.at - 10, BlindTo: twice.at, Why: events.Folder}).
		add(resumed(twice.at-5000, twice.at)).add(missed(twice.at - 5000))
	overlap := begun(appeared(), becameBusy())
	overlap.at += 5000
	overlap.add(resumed(overlap.at-5500, overlap.at))
	again := begun(appeared())
	for range 2 {
		again.at += 5000
		again.add(resumed(again.at-5000, again.at))
	}
	again.add(missed(again.at - 5000))
	return map[string]*log{
		"missed by the second of two looks":   again,
		"seen after everything was last seen": overlap,
		"empty":                               {},
		"a life and another one":              life(),
		"changes": begun(appeared(), renamed("n", "m"),
			events.PeerChanged{Peer: peer(name("m"), since(9)), Was: was(peer(), "status_since")}),
		"to absent and back": begun(appeared(),
			events.PeerChanged{Peer: peer(name("")), Was: was(peer(), "name")},
			events.PeerChanged{Peer: peer(), Was: was(peer(name("")), "name")}),
		"switched at one look":              switching,
		"missed":                            blind,
		"missed by two blindnesses at once": twice,
		"many threads of one process":       begun(appeared(codex), appeared(codex, session("b"))),
		"two processes with one session":    begun(appeared(), appeared(func(p *events.Peer) { p.PID = 7 })),
		"the beginning is forgotten":        life().forgotten(2),
		"forgotten up to a present":         life().forgotten(3),
		"forgotten up to a going":           life().forgotten(4),
		"forgotten up to a missed going":    blind.forgotten(4),
	}
}

type badLog struct {
	log  *log
	want []found
}

func badLogs() map[string]badLog {
	out := make(map[string]badLog)
	for _, some := range []map[string]badLog{badHeads(), badPeers(), badFields(), badBlindness()} {
		maps.Copy(out, some)
	}
	return out
}

func badHeads() map[string]badLog {
	return map[string]badLog{
		"sequence stands still": {begun(appeared(), becameBusy()).reseq(2, 2), []found{{2, Order}}},
		"sequence goes back":    {begun(appeared(), becameBusy()).reseq(2, 1), []found{{1, Order}}},
		"sequence 0":            {begun(appeared()).forgotten(1).reseq(0, 0), []found{{0, Order}}},
		"an id twice": {
			begun(appeared()).later(becameBusy(), func(m *events.Meta) { m.ID = "id-2" }), []found{{3, Repeated}},
		},
		"another host": {
			begun().later(appeared(), func(m *events.Meta) { m.Host = "other" }), []found{{2, OtherHost}},
		},
		"another epoch": {
			begun().later(appeared(), func(m *events.Meta) { m.Epoch = "8" }), []found{{2, OtherEpoch}},
		},
	}
}

func badPeers() map[string]badLog {
	lost := begun(appeared())
	lost.later(switchedTo("b")).later(appeared(session("b")))
	ends := begun(appeared()).later(switchedTo("b"))
	return map[string]badLog{
		"appeared twice":              {begun(appeared(), appeared()), []found{{3, AppearedTwice}}},
		"appeared twice, forgotten":   {begun(appeared(), present(), appeared()).forgotten(2), []found{{4, AppearedTwice}}},
		"gone twice":                  {begun(appeared(), gone(events.Died), gone(events.Died)), []found{{4, GoneTwice}}},
		"gone without appearing":      {begun(gone(events.Died)), []found{{2, GoneTwice}}},
		"gone twice, forgotten":       {begun(appeared(), gone(events.Died), gone(events.Died)).forgotten(2), []found{{4, GoneTwice}}},
		"gone for no reason":          {begun(appeared(), gone("")), []found{{3, NoReason}}},
		"gone for an unknown reason":  {begun(appeared(), gone("bored")), []found{{3, NoReason}}},
		"status of nobody":            {begun(becameBusy()), []found{{2, NotThere}}},
		"change of nobody":            {begun(renamed("n", "m")), []found{{2, NotThere}}},
		"nobody is present":           {begun(present()), []found{{2, NotThere}}},
		"present after its going":     {begun(appeared(), gone(events.Died), present()), []found{{4, NotThere}}},
		"present after it, forgotten": {begun(appeared(), gone(events.Died), present()).forgotten(2), []found{{4, NotThere}}},
		"two sessions of one process": {begun(appeared(), appeared(session("b"))), []found{{3, TwoSessions}}},
		"the successor comes later":   {lost, []found{{3, NoSuccessor}}},
		"the successor never comes":   {ends, []found{{3, NoSuccessor}}},
	}
}

func badFields() map[string]badLog {
	none := func(p events.Peer) events.StatusChanged { return events.StatusChanged{Peer: p} }
	onlySince := events.StatusChanged{Peer: peer(since(9)), Was: was(peer(), "status_since")}
	same := becameBusy()
	same.Peer = peer()
	strange := renamed("n", "m")
	strange.Was.Fields = []string{"mood", "name"}
	return map[string]badLog{
		"status, nothing named":        {begun(appeared(), none(peer())), []found{{3, SameStatus}}},
		"status, nothing named but is": {begun(appeared(), none(peer(busy))), []found{{3, Undeclared}, {3, SameStatus}}},
		"status_since is no status":    {begun(appeared(), onlySince), []found{{3, SameStatus}}},
		"status is what it was":        {begun(appeared(), same), []found{{3, WrongWas}, {3, WrongWas}, {3, WrongWas}, {3, SameStatus}}},
		"status said twice":            {begun(appeared(), becameBusy(), becameBusy()), []found{{4, WrongWas}, {4, WrongWas}, {4, WrongWas}}},
		"change, nothing named":        {begun(appeared(), events.PeerChanged{Peer: peer()}), []found{{3, Nothing}}},
		"change to what it was":        {begun(appeared(), renamed("n", "n")), []found{{3, WrongWas}, {3, Nothing}}},
		"change from what it was not":  {begun(appeared(), renamed("x", "m")), []found{{3, WrongWas}}},
		"change of an unknown field":   {begun(appeared(), strange), []found{{3, WrongWas}}},
		"change of status":             {begun(appeared(), events.PeerChanged(becameBusy())), []found{{3, Misplaced}, {3, Misplaced}}},
		"name in a StatusChanged":      {begun(appeared(), events.StatusChanged(renamed("n", "m"))), []found{{3, Misplaced}, {3, SameStatus}}},
		"another field than named":     {begun(appeared(), events.PeerChanged{Peer: peer(name("m"), since(9)), Was: was(peer(), "name")}), []found{{3, Undeclared}}},
		"present is another one":       {begun(appeared(), present(busy)), []found{{3, Undeclared}}},
		"gone is another one":          {begun(appeared(), gone(events.Died, busy)), []found{{3, Undeclared}}},
		"no status change, forgotten":  {begun(appeared(), none(peer())).forgotten(2), []found{{3, SameStatus}}},
		"no change, forgotten":         {begun(appeared(), events.PeerChanged{Peer: peer()}).forgotten(2), []found{{3, Nothing}}},
		"said twice after the forgotten": {
			begun(appeared(), becameBusy(), becameBusy()).forgotten(2), []found{{4, WrongWas}, {4, WrongWas}, {4, WrongWas}},
		},
	}
}

func badBlindness() map[string]badLog {
	unwatched := &log{at: t0}
	unwatched.add(appeared())
	late := begun(appeared())
	late.at += 5000
	late.add(resumed(late.at-5000, late.at)).add(missed(late.at - 4000))
	since := begun(appeared())
	since.add(gone(events.Died))
	unfit := since.all[2].Event.(events.PeerGone)
	unfit.NotBefore = t0
	since.all[2].Event = unfit
	afterwards := begun(appeared())
	afterwards.at += 5000
	afterwards.add(resumed(afterwards.at-5000, afterwards.at)).later(missed(afterwards.at - 6000))
	interrupted := begun(appeared())
	interrupted.at += 5000
	interrupted.add(resumed(interrupted.at-5000, interrupted.at)).later(present()).add(missed(interrupted.at - 6000))
	during := begun(appeared())
	during.at += 5000
	during.add(resumed(during.at-5000, during.at))
	during.at -= 2500
	during.add(becameBusy())
	return map[string]badLog{
		"nobody began to watch":       {unwatched, []found{{1, WhileBlind}}},
		"missed without a blindness":  {begun(appeared(), appeared(session("b"), codex), missed(t0)), []found{{4, Missed}}},
		"missed, something between":   {interrupted, []found{{5, Missed}}},
		"missed by a later look":      {afterwards, []found{{4, Missed}}},
		"missed, forgotten":           {begun(appeared(), becameBusy(), missed(t0)).forgotten(1), []found{{4, Missed}, {4, Undeclared}}},
		"not before another time":     {late, []found{{4, Missed}}},
		"not_before without missed":   {since, []found{{3, Missed}}},
		"blindness of no reason":      {begun(events.WatchResumed{BlindFrom: t0, BlindTo: t0}), []found{{2, Blindness}}},
		"blindness from end to start": {begun(events.WatchResumed{BlindFrom: t0 + 2, BlindTo: t0, Why: events.Sleep}), []found{{2, Blindness}}},
		"seen while nobody watched":   {during, []found{{4, WhileBlind}}},
	}
}
