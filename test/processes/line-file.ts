import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * Values as lines of a file, each written by one call before the writer goes on. The kernel has it then: a SIGKILL of the process takes nothing back. Only a
 * machine that loses its power would, so nothing waits for the disk.
 */
export class LineWriter<T> {
  private readonly file: number;

  constructor(path: string) {
    this.file = openSync(path, 'a');
  }

  write(value: T): void {
    writeSync(this.file, `${JSON.stringify(value)}\n`);
  }

  close(): void {
    closeSync(this.file);
  }
}

const CHUNK = 1 << 16;

/** Reads what was written since the last look. A line that is not whole yet is left for the next. */
export class LineReader<T> {
  private readonly file: number;
  private position = 0;
  private rest = Buffer.alloc(0);

  /** The file is created where the writer has not done so yet. */
  constructor(path: string) {
    this.file = openSync(path, 'a+');
  }

  readNew(): T[] {
    const chunks = [this.rest];
    while (this.position < fstatSync(this.file).size) {
      const chunk = Buffer.alloc(CHUNK);
      const length = readSync(this.file, chunk, 0, CHUNK, this.position);
      if (length === 0) break;
      this.position += length;
      chunks.push(chunk.subarray(0, length));
    }
    const bytes = Buffer.concat(chunks);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.rest = bytes.subarray(end);
    const text = bytes.subarray(0, end).toString('utf8');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }

  close(): void {
    closeSync(this.file);
  }
}
