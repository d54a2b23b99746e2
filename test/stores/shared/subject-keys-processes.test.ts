import { createSecretKey, randomBytes } from 'node:crypto'
import { postgresSubjectKeys } from 'daybook/postgres'
import { sqliteSubjectKeys } from 'daybook/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SubjectKeys } from '../../../src/privacy/subject-keys.js'
import { type Child, linesOf, runScript } from '../../support/child.js'
import { postgresDatabase } from '../../support/database.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { tempDir } from '../../support/temp.js'

/** Where the keys are, and how a process opens them. */
interface Place {
  readonly address: string
  open(master: Buffer): SubjectKeys
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async SQLite() {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const filename = file('keys.db')
    return {
      address: filename,
      open: (master) => sqliteSubjectKeys({ filename, master: createSecretKey(master) }),
    }
  },
  async Postgres() {
    const { url: connectionString, remove } = await postgresDatabase()
    onTestFinished(remove)
    return {
      address: connectionString,
      open: (master) => postgresSubjectKeys({ connectionString, master: createSecretKey(master) }),
    }
  },
}

const request = { reason: 'asked', username: 'dpo' }
const subjectsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ kind: 'customer', id: `c${i}` }))

function run({ address }: Place, master: Buffer, ...task: readonly string[]): Child {
  const args = [address, master.toString('base64'), ...task]
  const child = runScript('test/stores/shared/keys-child.ts', args)
  onTestFinished(() => child.kill())
  return child
}

/** Resolves once the process has printed this number of lines, or has ended. */
async function sawLines(child: Child, count: number): Promise<void> {
  let isOver = false
  void child.ended.then(() => (isOver = true))
  while (!isOver && linesOf(child).length < count)
    await Promise.race([
      new Promise((resolve) => child.process.stdout!.once('data', resolve)),
      child.ended,
    ])
}

async function withKeys<Result>(
  place: Place,
  master: Buffer,
  act: (keys: SubjectKeys) => Promise<Result>,
): Promise<Result> {
  const keys = place.open(master)
  try {
    return await act(keys)
  } finally {
    await keys.close()
  }
}

describe.each(Object.entries(PLACES))('keys of subjects of several processes in %s', (_, at) => {
  it('are the same in all processes that make them at once', { timeout: 60_000 }, async () => {
    const place = await at()
    const master = randomBytes(32)
    const children = Array.from({ length: 4 }, () => run(place, master, 'obtain', '60'))
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0)
    const [first, ...others] = children.map((child) => child.stdout())
    expect(first!.split(',')).toHaveLength(60)
    expect(new Set(others)).toEqual(new Set([first]))
  })

  it(
    'are all kept if a process is killed while it rotates',
    { timeout: soakTimeout(90_000) },
    async () => {
      const place = await at()
      let master = randomBytes(32)
      const subjects = subjectsOf(2300)
      const made = await withKeys(place, master, (keys) => keys.obtain(subjects))
      for (const round of soakRounds(3)) {
        const next = randomBytes(32)
        const child = run(place, master, 'rotate', next.toString('base64'))
        await sawLines(child, 1 + ((round * 2) % 5))
        await child.kill()
        // The operator repeats the command, which has the former master key.
        const count = await withKeys(place, master, (keys) => keys.rotate(createSecretKey(next)))
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThanOrEqual(subjects.length)
        await withKeys(place, next, async (keys) => {
          expect(await keys.obtain(subjects)).toEqual(made)
          expect(await keys.rotatedAt()).toBeDefined()
        })
        await expect(withKeys(place, master, (keys) => keys.obtain(subjects))).rejects.toThrow(
          'if the master key was rotated',
        )
        master = next
      }
    },
  )

  it(
    'are erased or kept, and nothing between, if a process is killed while it erases',
    { timeout: soakTimeout(90_000) },
    async () => {
      const place = await at()
      const master = randomBytes(32)
      const subjects = subjectsOf(12)
      for (const round of soakRounds(3)) {
        const made = await withKeys(place, master, (keys) => keys.obtain(subjects))
        const child = run(place, master, 'erase', '12')
        await sawLines(child, 4 + round * 5)
        await child.kill()
        const lines = new Set(linesOf(child))
        expect(lines.size).toBeGreaterThan(3)
        await withKeys(place, master, async (keys) => {
          const erasures = new Map((await keys.erasures()).map((one) => [one.ref, one]))
          const read = await keys.read(made.map(({ ref }) => ref))
          for (const [i, key] of made.entries()) {
            const erasure = erasures.get(key.ref)
            if (lines.has(`begun ${i}`)) expect(erasure).toBeDefined()
            if (!lines.has(`begin ${i}`)) expect(erasure).toBeUndefined()
            if (lines.has(`ended ${i}`)) expect(erasure!.events).toBe(i)
            const { ref } = key
            expect(read.get(ref)).toEqual(erasure ? { ref, erased_at: erasure.erased_at } : key)
            // Repeated, it ends in the same way.
            const begun = await keys.beginErasure(subjects[i]!, request)
            expect(begun?.ref).toBe(erasure?.isEnded ? undefined : ref)
            if (begun) await keys.endErasure(ref, { events: i })
          }
          const ended = await keys.erasures()
          expect(ended).toHaveLength(subjects.length * (round + 1))
          expect(ended.every(({ isEnded }) => isEnded)).toBe(true)
        })
      }
    },
  )
})
