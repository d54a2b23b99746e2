import path from 'node:path'
import fc from 'fast-check'
import { expect, inject, it, onTestFinished } from 'vitest'
import { postgresDatabase } from '../support/database.js'
import { createErasureKills, type ErasureRound, erasureRounds } from '../support/killed-erasure.js'
import { tempDir } from '../support/temp.js'

const FIRST: readonly ErasureRound[] = [
  { part: 0, erases: 'person', endedBy: 'call' },
  { part: 400, erases: 'person', endedBy: 'start' },
]
const rounds = [...FIRST, ...fc.sample(erasureRounds, 2)]

it.each(['SQLite', 'Postgres'])(
  'an erasure whose process is killed ends once: %s',
  { timeout: 120_000 },
  async (store) => {
    const temp = tempDir()
    onTestFinished(temp.remove)
    const database = store === 'Postgres' ? await postgresDatabase() : undefined
    if (database) onTestFinished(() => database.remove())
    const place = database
      ? { log: database.url, keys: database.url }
      : { log: temp.file('audit.db'), keys: temp.file('subjects.db') }
    const kill = createErasureKills(
      path.join(inject('compiledFolder'), 'test/campaigns/erase-child.js'),
    )
    for (const round of rounds)
      await expect(kill(place, round), JSON.stringify(round)).resolves.toMatch(
        /begun|pending|ended/,
      )
  },
)
