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

// Each run continues where the previous one was killed. So these places are early and late in the work.
it.each([
  ['ndjson', [9, 41, 83]],
  ['parquet', [9, 41, 83]],
  ['folder', [9, 20, 30]],
] as const)(
  'a process that is killed while it archives as %s loses no event',
  { timeout: 180_000 },
  async (format, kills) => {
    const log = await openArchivedLog(format, run)
    try {
      for (const step of kills)
        expect(await log.archive(step), `step ${step}`).toEqual({ wasKilled: true, steps: step })
      expect((await log.archive()).wasKilled).toBe(false)
      expect(await log.runs()).toEqual([
        ...kills.map(() => 'error:data_cleanup:events'),
        'info:data_cleanup:events',
      ])
    } finally {
      await log.close()
    }
  },
)
