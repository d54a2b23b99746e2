import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MEMORY_FOLDER, TEMP_FOLDER } from './temp.js'

/** Many times the space that all tests need at once. */
const MIN_FREE_BYTES = 4 * 2 ** 30

const NAME = /^daybook-tests-(\d+)-/

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const remove = (folder: string): void =>
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

/** Frees the memory of killed runs. */
function removeAbandoned(): void {
  for (const name of fs.readdirSync(MEMORY_FOLDER)) {
    const pid = NAME.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) remove(path.join(MEMORY_FOLDER, name))
  }
}

/**
 * Lets tests keep their files in memory if there is enough memory (Linux), because they write much and remove it
 * within seconds. DAYBOOK_TEST_TEMP names another folder.
 */
export default function setup(): (() => void) | undefined {
  if (process.env[TEMP_FOLDER] !== undefined || !fs.existsSync(MEMORY_FOLDER)) return undefined
  const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER)
  if (Math.min(bavail * bsize, os.freemem()) < MIN_FREE_BYTES) return undefined
  removeAbandoned()
  const folder = fs.mkdtempSync(path.join(MEMORY_FOLDER, `daybook-tests-${process.pid}-`))
  // Servers of Postgres have another account.
  fs.chmodSync(folder, 0o711)
  process.env[TEMP_FOLDER] = folder
  return () => remove(folder)
}
