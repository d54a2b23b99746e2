import { AuditLog } from 'daybook'
import { checkConsistency } from 'daybook/ledger'
import { memoryStore } from 'daybook/memory'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toBase64 } from '../../src/ledger/base64.js'
import { withNodes } from '../../src/ledger/read-nodes.js'
import { consistencyPath } from '../../src/ledger/tree.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../support/ledger-key.js'

/* Any two heads that were given out stay comparable, also when the events below them are gone. */

let key: LedgerKey
beforeAll(async () => {
  key = await ledgerKey()
})
afterAll(() => key.remove())

const sizeOf = (head: string): number => Number(head.split('\n')[1])

async function expectConsistent(audit: AuditLog, heads: readonly string[]): Promise<void> {
  for (const [i, older] of heads.entries())
    for (const newer of heads.slice(i + 1)) {
      const [from, to] = [sizeOf(older), sizeOf(newer)]
      if (from === to) continue
      const path = await withNodes(audit.store.ledger!, (read) => consistencyPath(from, to, read))
      const policy = key.vkey
      expect(await checkConsistency({ older, newer, path: path.map(toBase64), policy })).toEqual({
        from,
        to,
      })
    }
}

const steps = fc.array(
  fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 300 }), weight: 3 },
    { arbitrary: fc.constant('clean' as const), weight: 1 },
  ),
  { minLength: 4, maxLength: 8 },
)

it('any two heads are consistent before and after cleaning', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 60 }), async (given, maxRows) => {
      const audit = new AuditLog({
        store: memoryStore(),
        types: {},
        ledger: { origin: ORIGIN, signer: key.forgetful },
        cleaning: { rules: [{ target: 'events', maxRows }], scheduled: false },
      })
      const heads: string[] = []
      for (const [i, step] of [...given, 'clean' as const].entries()) {
        if (i === given.length) await expectConsistent(audit, heads)
        if (step === 'clean') expect((await audit.cleaning.run())[0]!.error).toBeUndefined()
        else
          await Promise.all(
            Array.from({ length: step }, (_, n) => audit.recordCustom('test:event', { n })),
          )
        heads.push(await audit.ledger.checkpoint())
      }
      await expectConsistent(audit, heads)
      expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', findings: [] })
      await audit.close()
    }),
    { numRuns: 8 },
  )
})
