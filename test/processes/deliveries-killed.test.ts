import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { postgresDatabase } from '../support/database.js'
import { soakRounds, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'

/*
 * Several processes have the same channel. Again and again the one that delivers is killed, or blocked for a time, while
 * events are recorded.
 */
const PROCESSES = 2
const ROUNDS = 2
// A process that is blocked goes on once another one has taken over.
const SIGNALS = ['SIGKILL', 'SIGUSR2'] as const

interface Delivered {
  readonly name: string
  readonly numbers: readonly number[]
}

/** The complete lines of the file. */
const readDeliveries = (file: string): Delivered[] =>
  fs.existsSync(file)
    ? fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Delivered)
    : []

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20)
}

/** Where each run of deliveries by one process begins and ends. */
function turnsOf(deliveries: readonly Delivered[]): { name: string; numbers: number[] }[] {
  const turns: { name: string; numbers: number[] }[] = []
  for (const { name, numbers } of deliveries) {
    const last = turns.at(-1)
    if (last?.name === name) last.numbers.push(...numbers)
    else turns.push({ name, numbers: [...numbers] })
  }
  return turns
}

async function deliver(location: string): Promise<readonly Delivered[]> {
  const temp = tempDir()
  const file = temp.file('delivered')
  const children = new Map<string, Child>()
  let started = 0
  const start = async (): Promise<void> => {
    const name = `process-${started++}`
    const child = runScript('test/processes/delivering-child.ts', [location, file, name])
    children.set(name, child)
    await child.saw('ready')
  }
  const store = location.startsWith('postgres')
    ? postgresStore({ connectionString: location })
    : sqliteStore({ filename: location })
  const audit: AuditLog = new AuditLog({ store, types: {} })
  let recorded = 0
  let isOver = false
  const record = async (): Promise<void> => {
    while (!isOver) {
      await Promise.all(
        Array.from({ length: 5 }, () => audit.recordCustom('test:number', { n: recorded++ })),
      )
      await delay(10)
    }
  }
  try {
    for (let n = 0; n < PROCESSES; n++) await start()
    const recording = record()
    await until(() => readDeliveries(file).length > 20)
    for (const round of soakRounds(ROUNDS)) {
      const before = readDeliveries(file)
      const holder = before.at(-1)!.name
      const child = children.get(holder)!
      if (SIGNALS[round % SIGNALS.length] === 'SIGUSR2') child.process.kill('SIGUSR2')
      else {
        await child.kill()
        await start()
      }
      await until(() => readDeliveries(file).at(-1)!.name !== holder)
      fs.writeFileSync(`${file}.${holder}`, '')
      const taken = readDeliveries(file).length
      await until(() => readDeliveries(file).length > taken + 20)
    }
    isOver = true
    await recording
    await until(() => readDeliveries(file).some(({ numbers }) => numbers.includes(recorded - 1)))
    const deliveries = readDeliveries(file)
    const seen = new Set(deliveries.flatMap(({ numbers }) => numbers))
    const missing = Array.from({ length: recorded }, (_, n) => n).filter((n) => !seen.has(n))
    expect(missing).toEqual([])
    return deliveries
  } finally {
    isOver = true
    await Promise.all(Array.from(children.values(), (child) => child.kill()))
    await audit.close()
    temp.remove()
  }
}

/** No process repeats what it has delivered, and first deliveries are in order. */
function expectOrder(deliveries: readonly Delivered[]): void {
  for (const { numbers } of turnsOf(deliveries))
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  const seen = new Set<number>()
  const first = deliveries.flatMap(({ numbers }) =>
    numbers.filter((n) => !seen.has(n) && seen.add(n)),
  )
  expect(first).toEqual(first.toSorted((a, b) => a - b))
}

describe('deliveries whose process is killed or blocked', () => {
  it('miss nothing and stay in order on SQLite', { timeout: soakTimeout(180_000) }, async () => {
    const temp = tempDir()
    try {
      expectOrder(await deliver(temp.file('audit.db')))
    } finally {
      temp.remove()
    }
  })

  it('miss nothing and stay in order on Postgres', { timeout: soakTimeout(180_000) }, async () => {
    const { url, remove } = await postgresDatabase()
    try {
      expectOrder(await deliver(url))
    } finally {
      await remove()
    }
  })
})
