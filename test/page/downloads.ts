import fs from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Download } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { tempDir } from '../support/temp.js'

/* Files that the page saves. */

const sizeOf = async (file: string): Promise<number> => (await fs.stat(file)).size

/** Saving takes a second on a busy machine. */
const SAVE_MS = 20_000

/**
 * Saves a download until the end of the test, and returns the path. If the stream from the browser server breaks, it
 * ends without an error like an empty file, or never ends. So the download is saved repeatedly until the file has
 * bytes.
 */
export async function saveDownload(download: Download): Promise<string> {
  expect(await download.failure()).toBeNull()
  const temp = tempDir()
  onTestFinished(temp.remove)
  const file = temp.file(download.suggestedFilename())
  for (;;) {
    const saving = download.saveAs(file).then(() => true)
    const isSaved = await Promise.race([saving, delay(SAVE_MS, false)])
    if (isSaved && (await sizeOf(file)) > 0) return file
  }
}

export const readDownload = async (download: Download): Promise<string> =>
  fs.readFile(await saveDownload(download), 'utf8')
