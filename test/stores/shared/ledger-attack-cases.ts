import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditLog, AuditLogError } from 'daybook'
import { allAttacks, attacks } from '../../support/ledger-attacks.js'
import { type LedgerKey, ledgerKey } from '../../support/ledger-key.js'
import {
  createWorlds,
  namesOf,
  openReading,
  openSealing,
  type StoreName,
  type World,
} from '../../support/ledger-world.js'

interface Found {
  readonly result: string
  readonly findings: readonly string[]
}

const verify = async (world: World, audit: AuditLog, heads?: readonly string[]): Promise<Found> => {
  try {
    const found = await audit.ledger.verify(heads && { heads })
    return { result: found.result, findings: namesOf(world, found) }
  } catch (error) {
    return { result: 'rejected', findings: [(error as AuditLogError).code] }
  }
}

const expected = (findings: readonly string[], good: string): Found => {
  if (findings.includes('NO_LEDGER')) return { result: 'rejected', findings }
  return { result: findings.length > 0 ? 'tampered' : good, findings }
}

interface AttackOptions {
  /** @default all that the store allows */
  readonly names?: readonly string[]
  /** True if a process with the key starts also after attacks that change nothing but events. */
  readonly restartsAlways?: boolean
}

export function testAttacks(
  store: StoreName,
  { names, restartsAlways = false }: AttackOptions = {},
): void {
  describe(`on the ${store} store`, () => {
    let key: LedgerKey
    let worlds: ReturnType<typeof createWorlds>
    beforeAll(async () => {
      key = await ledgerKey()
      worlds = createWorlds(store, key)
    })
    afterAll(async () => {
      await worlds.remove()
      key.remove()
    })

    const possible = allAttacks.filter(([, { on }]) => on?.includes(store) ?? true)
    const chosen = possible.filter(([name]) => names?.includes(name) ?? true)
    it('knows the attacks', () => {
      expect(chosen).toHaveLength(names?.length ?? possible.length)
    })

    it.each(chosen)('%s', async (name, { attack, found, alone = found }) => {
      const copy = await worlds.next()
      const world = { ...copy, place: (await attack(copy)) ?? copy.place }
      const reader = openReading(world)
      const outside = await verify(world, reader, world.heads)
      const inside = await verify(world, reader)
      await reader.close()
      expect({ outside, inside }).toEqual({
        outside: expected(found, 'intact'),
        inside: expected(alone, 'self-consistent'),
      })
      if (name in attacks['Events']! && !restartsAlways) return
      // A process with the key that starts now signs nothing that it finds in the tables.
      const sealing = openSealing(world)
      await sealing.ledger.checkpoint().catch(() => undefined)
      const later = await verify(world, sealing, world.heads)
      await sealing.close()
      expect(later).toEqual(outside)
    })
  })
}
