import path from 'node:path'
import { compileSources } from '../support/global-compiled.js'
import { createErasureKills, type Interrupted, erasureRounds } from '../support/killed-erasure.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'
import { runLogs } from './shared/rounds.js'

/*
 * Processes that erase persons and events are killed with SIGKILL: see `killed-erasure.ts`. Logs and keys alternate between SQLite and Postgres.
 */

export const campaign: Campaign = {
  rounds: 200,
  async run(run) {
    const compiled = await compileSources()
    const kill = createErasureKills(path.join(compiled.folder, 'test/campaigns/erase-child.js'))
    const figures: Record<Interrupted, number> = { 'not begun': 0, pending: 0, ended: 0 }
    const isPostgres = (log: number): boolean => log % 2 === 1
    const setting = { round: erasureRounds, perLog: 20, isPostgres, figures }
    await runLogs(run, setting, async (log, some) => {
      const temp = tempDir()
      const isServer = log.startsWith('postgres')
      const place = { log, keys: isServer ? log : temp.file('subjects.db') }
      for (const round of some) figures[await kill(place, round)] += 1
      temp.remove()
    })
    await compiled.remove()
    return figures
  },
}
