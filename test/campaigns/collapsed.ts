import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { compileSources } from '../support/global-compiled.js'
import { openStore } from '../support/open-store.js'
import { allEvents } from '../support/reported-losses.js'
import type { Campaign } from './run.js'
import { checkCounted, type Counted, newCounted, noteCounted } from './shared/counted.js'
import { createBegin, killInTurn, killRounds, type KillRound, type Life } from './shared/lives.js'
import { startProcess, until } from './shared/process.js'
import { runLogs } from './shared/rounds.js'

/*
 * Three processes make calls that are counted: reads, refused requests, and calls with a window of a second. In each round one of them
 * is killed with SIGKILL, or ended. Another log takes over what is left. Then the events must stand for all calls, but for those of the
 * last second of a killed process. Every second log is on Postgres.
 */

const MAX_TAKEOVER_MS = 300_000
/** Every fourth life ends by itself. */
const ENDING = 4

/** Starts a process. */
function startLife(args: readonly [string, string], life: Counted, ends: boolean): Life {
  const { began, begin } = createBegin()
  const running = startProcess(life.life, [...args, life.life, life.address], (line) => {
    if (line === 'begin') begin()
    else noteCounted(life, line)
  })
  const end = async (how: 'kill' | 'end' | 'finish'): Promise<void> => {
    life.isKilled = how !== 'finish'
    life.endedAt = Date.now()
    await running[how]()
  }
  const kill = (): Promise<void> => end(ends ? 'finish' : 'kill')
  let isOver = false
  const once = async (stop: () => Promise<void>): Promise<void> => {
    if (isOver) return
    isOver = true
    await stop()
  }
  return {
    began,
    running: { ...running, kill: () => once(kill), end: () => once(() => end('end')) },
  }
}

interface Figures {
  lives: number
  calls: number
  /** Calls of the last seconds of killed processes. */
  missing: number
  interrupted: number
}

async function runLog(
  file: string,
  location: string,
  plan: readonly KillRound[],
  figures: Figures,
): Promise<void> {
  await using audit: AuditLog = new AuditLog({ store: openStore(location), types: {} })
  audit.intents()
  const lives: Counted[] = []
  await killInTurn(plan, (name) => {
    const life = newCounted(name, lives.length)
    lives.push(life)
    return startLife([file, location], life, lives.length % ENDING === 0)
  })
  await until('no intent of a killed process is left', MAX_TAKEOVER_MS, async () => {
    await delay(500)
    return (await audit.store.updateState('intents', (value) => value)) === undefined
  })
  const events = await allEvents(audit)
  for (const life of lives) {
    figures.missing += checkCounted(events, life)
    figures.calls += Object.values(life.made).reduce(
      (sum, made) => sum + (made.at(-1)?.calls ?? 0),
      0,
    )
  }
  figures.lives += lives.length
  figures.interrupted += events.filter(({ attributes }) => attributes['interrupted']).length
}

export const campaign: Campaign = {
  rounds: 100,
  async run(run) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/collapsed-child.js')
    const figures: Figures = { lives: 0, calls: 0, missing: 0, interrupted: 0 }
    const isPostgres = (log: number): boolean => log % 2 === 1
    await runLogs(run, { round: killRounds, perLog: 25, isPostgres, figures }, (location, some) =>
      runLog(file, location, some, figures),
    )
    await compiled.remove()
    return { ...figures }
  },
}
