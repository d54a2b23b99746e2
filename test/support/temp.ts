import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A new temporary directory, and a function that removes it. */
export function tempDir(): { dir: string; file: (name: string) => string; remove: () => void } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-'))
  return {
    dir,
    file: (name) => path.join(dir, name),
    remove: () => fs.rmSync(dir, { recursive: true, force: true }),
  }
}
