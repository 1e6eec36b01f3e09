package test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// Other people's programs build on these packages and cannot name what is internal, so a signature that does is one
// that they cannot use.
func TestPublicSignaturesNameNothingInternal(t *testing.T) {
	public := ours("events", "events/follow")
	if _, err := os.Stat("../courier/mail"); err == nil {
		public = append(public, ours("courier/mail")...)
	}
	control := module + "internal/bus"
	imp := compiled(t, append(public, control)...)
	for _, path := range public {
		for _, leak := range leaksOf(t, imp, path) {
			t.Errorf("%s: %s", path, leak)
		}
	}
	if len(leaksOf(t, imp, control)) == 0 {
		t.Errorf("nothing internal was found in the signatures of %s, which is internal", control)
	}
}

// compiled imports the packages, and what they depend on, from what the compiler wrote of them.
func compiled(t *testing.T, paths ...string) types.Importer {
	t.Helper()
	type export struct{ ImportPath, Export string }
	files := map[string]string{}
	for _, e := range goList[export](t, nil, append([]string{"-export", "-deps", "-json=ImportPath,Export"}, paths...)...) {
		files[e.ImportPath] = e.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// leaksOf says where the exported declarations of a package name a type of an internal package.
func leaksOf(t *testing.T, imp types.Importer, path string) []string {
	t.Helper()
	p, err := imp.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	w := walk{of: p, seen: map[types.Type]bool{}}
	for _, name := range p.Scope().Names() {
		if obj := p.Scope().Lookup(name); obj.Exported() {
			w.at = name
			w.visit(obj.Type())
		}
	}
	return slices.Compact(w.leaks)
}

// walk goes through what a user of a package can reach by its declarations.
type walk struct {
	of    *types.Package
	at    string
	seen  map[types.Type]bool
	leaks []string
}

func (w *walk) visit(t types.Type) {
	if t == nil || w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.named(t.Obj())
		w.visit(t.Rhs())
	case *types.Named:
		w.named(t.Obj())
		for arg := range t.TypeArgs().Types() {
			w.visit(arg)
		}
		for p := range t.TypeParams().TypeParams() {
			w.visit(p.Constraint())
		}
		if t.Obj().Pkg() == w.of {
			w.visit(t.Underlying())
			for m := range t.Methods() {
				if m.Exported() {
					w.visit(m.Type())
				}
			}
		}
	case *types.Map:
		w.visit(t.Key())
		w.visit(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		w.visit(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				w.visit(f.Type())
			}
		}
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			w.visit(p.Constraint())
		}
		w.visit(t.Params())
		w.visit(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(v.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			w.visit(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			w.visit(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			w.visit(term.Type())
		}
	}
}

func (w *walk) named(obj *types.TypeName) {
	if p := obj.Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"internal/") {
		w.leaks = append(w.leaks, w.at+" names "+p.Path()+"."+obj.Name())
	}
}
