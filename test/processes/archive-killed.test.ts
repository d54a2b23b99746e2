import { expect, it } from 'vitest'
import { openArchivedLog, type RunArchiving } from '../campaigns/archives/archived-log.js'
import { runScript } from '../support/child.js'

/* The short form of `npm run soak -- archives`, which kills the process at each step. */

const run: RunArchiving = async (args) => {
  const child = runScript('test/campaigns/archives/archiving.ts', args)
  const code = await child.ended
  const done = /^done (\d+)$/m.exec(child.stdout())?.[1]
  if (child.process.signalCode === 'SIGKILL') return { wasKilled: true, steps: Number(args.at(-1)) }
  if (code !== 0 || done === undefined) throw new Error(child.stderr())
  return { wasKilled: false, steps: Number(done) }
}

it.each(['ndjson', 'parquet'] as const)(
  'a process that is killed while it archives as %s loses no event',
  { timeout: 180_000 },
  async (format) => {
    const log = await openArchivedLog(format, run)
    try {
      // Each run goes on where the one before was killed, so that these are places early and late in the work.
      const kills = [9, 41, 83]
      for (const step of kills)
        expect(await log.archive(step), `step ${step}`).toEqual({ wasKilled: true, steps: step })
      expect((await log.archive()).wasKilled).toBe(false)
    } finally {
      await log.close()
    }
  },
)
