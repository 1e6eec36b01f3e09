package proc

import "testing"

func BenchmarkLook(b *testing.B) {
	self := SelfID()
	b.ReportAllocs()
	for b.Loop() {
		if s := Look(self.PID); s.Start != self.Start {
			b.Fatalf("looked at %v and saw %+v", self, s)
		}
	}
}

func BenchmarkWatch(b *testing.B) {
	self := SelfID()
	d := newDeaths(b)
	b.ReportAllocs()
	for b.Loop() {
		if v := d.Watch(self); v != Alive {
			b.Fatalf("watching oneself: %v", v)
		}
		d.Forget(self)
	}
}
