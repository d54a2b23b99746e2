import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/**
 * Calls `use` with a new folder and removes the folder afterwards. It lies in the system's folder for
 * temporary files (TMPDIR), which should be on a disk: in memory a commit costs nothing.
 */
export async function withTempFolder<Result>(
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    return await use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
