import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { threadFile } from '../../adapters/sqlite/connection/thread.js'

/** Before or after its commit the thread is blocked until the order is taken back; or it ends after the commit. */
export type Hold = 'before' | 'after' | 'die'

export const holdFiles = (filename: string) => ({
  order: `${filename}.order`,
  held: `${filename}.held`,
})

/** The thread to give to a store whose commits are held. */
export const heldWriterThread = (): URL => threadFile(import.meta.url, 'held-writer-thread')

export interface HeldCommits {
  /** Resolves when a commit is held. */
  until(): Promise<void>
  release(): void
}

/** Holds the commits of the writer thread of the file from now on. */
export function holdCommits(filename: string, hold: Hold): HeldCommits {
  const { order, held } = holdFiles(filename)
  fs.rmSync(held, { force: true })
  // Appears with its content.
  fs.writeFileSync(`${order}.new`, hold)
  fs.renameSync(`${order}.new`, order)
  return {
    async until() {
      while (!fs.existsSync(held)) await delay(1)
    },
    release: () => fs.rmSync(order, { force: true }),
  }
}
