import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { MINUTE } from '../../src/event/timestamp.js'
import { generateKey } from '../../src/ledger/key-file.js'
import { compileSources } from '../support/global-compiled.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'
import { createBegin, killInTurn, type KillRound, killRounds, type Life } from './shared/lives.js'
import { type Running, startProcess } from './shared/process.js'
import { runLogs } from './shared/rounds.js'

/*
 * Three processes record, import, remove, seal and verify one log, by clocks that are minutes apart. In each round one of them is killed with
 * SIGKILL; meanwhile others are suspended for a while. A log serves for several rounds, and the logs alternate between SQLite and Postgres.
 * No verification may find anything, at the end with all heads that were signed.
 */

const ORIGIN = 'audit.example.com/campaign'
/** Clocks of processes. The end has another one, by which the last lease has ended. */
const AHEAD = [0, 3 * MINUTE, -3 * MINUTE]
const END_AHEAD = 30 * MINUTE
const MAX_SUSPENDED_MS = 400

interface Figures {
  logs: number
  heads: number
  suspended: number
  events: number
  leaves: number
  readonly problems: Record<string, number>
}

/** Suspends a random process again and again, until the signal aborts. */
async function suspendSome(running: ReadonlySet<Running>, signal: AbortSignal, figures: Figures) {
  while (!signal.aborted) {
    const [one] = [...running].toSorted(() => Math.random() - 0.5)
    one?.process.kill('SIGSTOP')
    await delay(Math.random() * MAX_SUSPENDED_MS)
    one?.process.kill('SIGCONT')
    if (one) figures.suspended += 1
    await delay(Math.random() * MAX_SUSPENDED_MS)
  }
}

async function verifyEnd(
  location: string,
  { key, archive, heads }: { key: string; archive: string; heads: readonly string[] },
  figures: Figures,
): Promise<void> {
  const clock = (): number => Date.now() * 1000 + END_AHEAD
  const store = location.startsWith('postgres')
    ? postgresStore({ connectionString: location, clock })
    : sqliteStore({ filename: location, clock })
  await using audit: AuditLog = new AuditLog({
    store,
    types: {},
    ledger: { origin: ORIGIN, signer: keyFile(key) },
    cleaning: { rules: [{ name: 'old', target: 'events', maxAge: { days: 3 }, archive }] },
  })
  for (const act of [async () => undefined, () => audit.cleaning.run()]) {
    await act()
    await audit.ledger.checkpoint()
    const { result, findings, events, size } = await audit.ledger.verify({ heads })
    if (result !== 'intact' || findings.length > 0)
      throw new Error(`at the end: ${JSON.stringify({ result, findings })}`)
    figures.events += events
    figures.leaves += size
  }
}

async function runLog(
  file: string,
  location: string,
  plan: readonly KillRound[],
  figures: Figures,
): Promise<void> {
  const temp = tempDir()
  const key = temp.file('ledger.pem')
  const archive = temp.file('archive')
  fs.mkdirSync(archive)
  await generateKey(ORIGIN, key)
  const heads: string[] = []
  const findings: string[] = []
  const running = new Set<Running>()
  const stopped = new AbortController()
  const suspending = suspendSome(running, stopped.signal, figures)
  try {
    let count = 0
    await killInTurn<Life>(plan, (name) => {
      const { began, begin } = createBegin()
      const ahead = String(AHEAD[count++ % AHEAD.length])
      const one = startProcess(name, [file, location, key, archive, ORIGIN, ahead], (line) => {
        const [word] = line.split(' ', 1)
        const value: unknown = JSON.parse(line.slice(word!.length + 1))
        if (word === 'began') begin()
        if (word === 'head') heads.push(value as string)
        if (word === 'finding') {
          findings.push(`${name}: ${JSON.stringify(value)}`)
          begin()
        }
        if (word === 'problem')
          figures.problems[String(value)] = (figures.problems[String(value)] ?? 0) + 1
      })
      running.add(one)
      void one.ended.then(() => running.delete(one))
      return { running: one, began }
    })
    stopped.abort()
    await suspending
    if (findings.length > 0) throw new Error(findings.join('\n'))
    await verifyEnd(location, { key, archive, heads }, figures)
    figures.heads += heads.length
    figures.logs += 1
  } finally {
    stopped.abort()
    await suspending
    temp.remove()
  }
}

export const campaign: Campaign = {
  rounds: 1000,
  async run(run) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/ledger-child.js')
    const figures: Figures = { logs: 0, heads: 0, suspended: 0, events: 0, leaves: 0, problems: {} }
    const isPostgres = (log: number): boolean =>
      run.store === 'postgres' || (run.store === undefined && log % 2 === 1)
    await runLogs(run, { round: killRounds, perLog: 25, isPostgres, figures }, (location, some) =>
      runLog(file, location, some, figures),
    )
    await compiled.remove()
    return { ...figures }
  },
}
