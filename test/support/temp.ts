import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** The variable of the environment that names the folder of temporary files. */
export const TEMP_FOLDER = 'DAYBOOK_TEST_TEMP'

/** A folder of Linux whose files are in memory. */
export const MEMORY_FOLDER = '/dev/shm'

/** The folder of temporary files and servers. By default, the folder of the system. */
export const tempFolder = (): string => process.env[TEMP_FOLDER] ?? os.tmpdir()

/** A new temporary directory, and a function that removes it. */
export function tempDir(): { dir: string; file: (name: string) => string; remove: () => void } {
  const dir = fs.mkdtempSync(path.join(tempFolder(), 'daybook-'))
  return {
    dir,
    file: (name) => path.join(dir, name),
    remove: () => fs.rmSync(dir, { recursive: true, force: true }),
  }
}
