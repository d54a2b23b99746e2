import {
  AuditLog,
  AuditLogError,
  describeEvent,
  english,
  german,
  type JsonObject,
  type JsonValue,
  sentenceText,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { presets } from 'daybook/presets'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EXAMPLES, recordsOf, TRIED_PRESETS } from '../support/preset-records.js'

/** A value of an unexpected type. */
const hostile: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    '',
    '-',
    '{',
    '{"a":[',
    '---\n',
    '\u0000',
    '\ud800',
    1e308,
    -1,
    0.5,
  ),
  fc.constantFrom<JsonValue>([], {}, [[[[]]]], [null], { type: {} }),
  fc.constant('x').map((text) => text.repeat(100_000)),
  fc.constant('{"a":').map((text) => text.repeat(20_000)),
  fc.constantFrom('__proto__', 'constructor', 'toString', '2026-99-99T99:99:99Z'),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
)

interface Change {
  /** Chooses a member at each depth. */
  readonly at: readonly number[]
  readonly removes: boolean
  readonly value: JsonValue
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    at: fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }),
    removes: fc.boolean(),
    value: hostile,
  }),
  { minLength: 1, maxLength: 4 },
)

function changed(value: JsonValue, { at, ...change }: Change): JsonValue {
  if (value === null || typeof value !== 'object') return change.value
  const members = Object.entries(value)
  const [first = 0, ...rest] = at
  const chosen = members[first % Math.max(members.length, 1)]
  if (chosen === undefined) return change.value
  const [name, old] = chosen
  const next = rest.length > 0 ? changed(old, { at: rest, ...change }) : change.value
  const kept = members.filter(([other]) => other !== name)
  return Object.fromEntries(change.removes && rest.length === 0 ? kept : [...kept, [name, next]])
}

describe.each(presets.map((preset) => [preset.name, preset] as const))(
  'preset %s',
  (name, preset) => {
    const tried = TRIED_PRESETS.find((one) => one === name)
    const originals = tried === undefined ? [EXAMPLES[name]!] : recordsOf(tried)

    it('reads or refuses records with missing and wrong members', async () => {
      const audit = new AuditLog({ store: memoryStore(), types: {} })
      onTestFinished(() => audit.close())
      const { customTypes } = preset
      let [read, refused] = [0, 0]
      const records = fc.constantFrom(...originals)
      const property = fc.asyncProperty(records, changes, async (record, steps) => {
        const given = steps.reduce<JsonValue>(changed, record) as JsonObject
        const text = JSON.stringify(given)
        const found = preset.eventOf(given)
        expect(JSON.stringify(given)).toBe(text)
        if (!found) return void refused++
        read++
        const { type, data, username } = found
        try {
          const event = await audit.recordCustom(type, data, { username })
          for (const language of [english, german])
            expect(sentenceText(describeEvent(event!, { customTypes, language }))).not.toBe('')
        } catch (error) {
          if (!(error instanceof AuditLogError)) throw error
          expect(error).toMatchObject({
            code: 'INVALID_EVENT',
            message: expect.stringMatching(/type|username/),
          })
        }
      })
      await fc.assert(property, { seed: 20_261_124, numRuns: 150 })
      expect(read).toBeGreaterThan(0)
      expect(refused).toBeGreaterThan(0)
    })
  },
)
