import fs from 'node:fs'
import os from 'node:os'
import { MEMORY_FOLDER, TEMP_FOLDER } from './temp.js'

/** Many times of what all tests need at once. */
const MIN_FREE_BYTES = 4 * 2 ** 30

/**
 * Lets tests keep their files in memory where there is enough of it (Linux): they write much, and remove it within
 * seconds. DAYBOOK_TEST_TEMP names another folder.
 */
export default function setup(): void {
  if (process.env[TEMP_FOLDER] !== undefined || !fs.existsSync(MEMORY_FOLDER)) return
  const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER)
  if (Math.min(bavail * bsize, os.freemem()) > MIN_FREE_BYTES)
    process.env[TEMP_FOLDER] = MEMORY_FOLDER
}
