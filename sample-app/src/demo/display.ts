import type { WriteStream } from 'node:tty';
import type { FireLine } from './fire-line';

/** What a person watches. */
export interface Display {
  /** Called often: `lines` are the fires in order, `concluded` those that will not change any more; `tasks` the table of the tasks. */
  show(lines: readonly FireLine[], concluded: ReadonlySet<FireLine>, status: string, tasks: readonly string[]): void;
  /** Something beside the fires. */
  note(text: string): void;
}

const COLUMNS: readonly [title: string, width: number, key: keyof FireLine][] = [
  ['instant', 8, 'instant'],
  ['job', 12, 'job'],
  ['replica', 7, 'ranOn'],
  ['after', 6, 'after'],
  ['what it did', 29, 'work'],
  ['what the others report', 22, 'others'],
];

const HEADING = COLUMNS.map(([title, width]) => title.padEnd(width))
  .join('  ')
  .trimEnd();

function text(line: FireLine): string {
  return COLUMNS.map(([, width, key]) => (key === 'after' ? line[key].padStart(width) : line[key].padEnd(width)))
    .join('  ')
    .trimEnd();
}

/** For a pipe or a file: a line when a fire is concluded. Of the tasks the notes tell. */
export class AppendedLines implements Display {
  private readonly written = new Set<string>();
  private hasHeading = false;

  constructor(private readonly write: (text: string) => void) {}

  show(lines: readonly FireLine[], concluded: ReadonlySet<FireLine>): void {
    for (const line of lines) {
      const name = `${line.job}@${line.instant}`;
      if (!concluded.has(line) || this.written.has(name)) continue;
      this.written.add(name);
      if (!this.hasHeading) this.write(`${HEADING}\n`);
      this.hasHeading = true;
      this.write(`${text(line)}\n`);
    }
  }

  note(note: string): void {
    this.write(`* ${note}\n`);
  }
}

const ROWS_SHOWN = 14;
const NOTES_SHOWN = 6;
const BOLD = '\u001b[1m';
const DIM = '\u001b[2m';
const RED = '\u001b[31m';
const PLAIN = '\u001b[0m';

/** For a terminal: the latest fires, redrawn in place. */
export class LiveTable implements Display {
  private readonly notes: string[] = [];
  private drawn = 0;
  private last: Parameters<Display['show']> = [[], new Set(), '', []];

  constructor(private readonly terminal: WriteStream) {}

  show(...shown: Parameters<Display['show']>): void {
    this.last = shown;
    const [lines, concluded, status, tasks] = shown;
    // The rest of a small terminal's height would scroll away and could not be redrawn.
    const height = Math.max(3, Math.min(ROWS_SHOWN, this.terminal.rows - NOTES_SHOWN - tasks.length - 4));
    const rows = lines.slice(-height).map((line) => {
      const style = line.work.includes('KILLED') ? RED : concluded.has(line) ? '' : DIM;
      return `${style}${this.fit(text(line))}${PLAIN}`;
    });
    const drawing = [
      `${BOLD}${this.fit(status)}${PLAIN}`,
      ...tasks.map((line, row) => `${row === 0 ? DIM : ''}${this.fit(line)}${PLAIN}`),
      `${DIM}${this.fit(HEADING)}${PLAIN}`,
      ...rows,
      ...this.notes.slice(-NOTES_SHOWN).map((note) => this.fit(`* ${note}`)),
    ];
    const back = this.drawn === 0 ? '' : `\u001b[${this.drawn}A`;
    this.terminal.write(`${back}\r\u001b[J${drawing.join('\n')}\n`);
    this.drawn = drawing.length;
  }

  note(note: string): void {
    this.notes.push(note);
    this.show(...this.last);
  }

  private fit(line: string): string {
    return line.slice(0, Math.max(20, this.terminal.columns - 1));
  }
}
