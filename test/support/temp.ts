import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const FOLDER = 'DAYBOOK_TEST_TEMP'

/** The folder of temporary files and servers: DAYBOOK_TEST_TEMP, or that of the system. */
export const tempFolder = (): string => process.env[FOLDER] ?? os.tmpdir()

const MEMORY = '/dev/shm'
/** Many times of what all tests need at once. */
const MIN_FREE_BYTES = 4 * 2 ** 30

/**
 * Lets tests keep their files in memory where there is enough of it (Linux): they write much, and remove it within
 * seconds. DAYBOOK_TEST_TEMP names another folder.
 */
export function useFastTempFolder(): void {
  if (process.env[FOLDER] !== undefined || !fs.existsSync(MEMORY)) return
  const { bavail, bsize } = fs.statfsSync(MEMORY)
  if (Math.min(bavail * bsize, os.freemem()) > MIN_FREE_BYTES) process.env[FOLDER] = MEMORY
}

/** A new temporary directory, and a function that removes it. */
export function tempDir(): { dir: string; file: (name: string) => string; remove: () => void } {
  const dir = fs.mkdtempSync(path.join(tempFolder(), 'daybook-'))
  return {
    dir,
    file: (name) => path.join(dir, name),
    remove: () => fs.rmSync(dir, { recursive: true, force: true }),
  }
}
