package screen

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Cell is a text in a table.
type Cell struct {
	Text  string // need not be clean
	Color Color
}

// Column is a column of a table.
type Column struct {
	Title string
	Most  int // its width at the most, 0 for no limit but the screen's
}

// between stands between two columns.
const between = "  "

// Table writes rows under the columns' titles. Columns are as wide as what they hold; what is too long for its column
// is cut at the end and marked so. The last column gets what the screen has left.
func (s *Screen) Table(columns []Column, rows [][]Cell) error {
	texts := make([][]string, len(rows))
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = runewidth.StringWidth(c.Title)
	}
	for r, row := range rows {
		texts[r] = make([]string, len(row))
		for i, cell := range row {
			texts[r][i] = Clean(cell.Text)
			widths[i] = max(widths[i], runewidth.StringWidth(texts[r][i]))
			if most := columns[i].Most; most > 0 {
				widths[i] = min(widths[i], most)
			}
		}
	}
	s.fit(widths)
	head := make([]Cell, len(columns))
	for i, c := range columns {
		head[i] = Cell{c.Title, Faint}
	}
	var b strings.Builder
	s.line(&b, widths, head, titles(columns))
	for r, row := range rows {
		s.line(&b, widths, row, texts[r])
	}
	_, err := s.Write([]byte(b.String()))
	return err
}

func titles(columns []Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Title
	}
	return out
}

// fit takes from the widest column until the row fits the screen.
func (s *Screen) fit(widths []int) {
	total := len(between) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > s.Width; total-- {
		widest := 0
		for i, w := range widths {
			if w >= widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 1 {
			return
		}
		widths[widest]--
	}
}

func (s *Screen) line(b *strings.Builder, widths []int, cells []Cell, texts []string) {
	for i, text := range texts {
		text = Cut(text, widths[i])
		pad := widths[i] - runewidth.StringWidth(text)
		b.WriteString(s.Paint(cells[i].Color, text))
		if i < len(texts)-1 {
			b.WriteString(strings.Repeat(" ", pad) + between)
		}
	}
	b.WriteByte('\n')
}

// Pad is a clean text with blanks behind it up to a width in columns.
func Pad(text string, width int) string { return runewidth.FillRight(text, width) }

// Cut is a clean text cut to a width in columns, with an ellipsis where something is missing.
func Cut(text string, width int) string {
	if runewidth.StringWidth(text) <= width {
		return text
	}
	return runewidth.Truncate(text, width, "…")
}

// Wrap is a clean text broken between words into lines of at most width columns, where its words allow it. The lines
// after the first are indented by so many blanks.
func Wrap(text string, width, indent int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		w := runewidth.StringWidth(word)
		switch {
		case i == 0:
		case at+1+w > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
	}
	return b.String()
}
