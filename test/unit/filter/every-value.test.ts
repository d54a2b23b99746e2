import type { AuditEvent, JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { eventAttributes } from '../../../src/filter/attributes.js'
import { compileFilter, compileWhereInSteps } from '../../../src/filter/evaluate.js'
import { finishSteps } from '../../../src/filter/steps.js'
import { parseVisible, type Visible } from '../../../src/filter/visible-filter.js'

const eventWith = (attributes: JsonObject, source: string | null = null): AuditEvent => ({
  id: '018f0000-0000-7000-8000-000000000000',
  created_at: '2026-01-01T00:00:00.000000Z',
  username: 'ann',
  system: false,
  type: 'api:x',
  source,
  attributes,
})

const ACME = { id: 'acme' }
/** More values than are tested at once. */
const MANY = Array.from({ length: 60_000 }, () => 'acme')

const CASES: readonly (readonly [Visible, JsonObject, boolean])[] = [
  [{ tenant_id_eq: 'acme' }, { tenant_id: 'acme' }, true],
  [{ tenant_id_eq: 'acme' }, { tenant: ACME }, true],
  [{ tenant_id_eq: 'acme' }, {}, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: 'acme', tenant: ACME }, true],
  [{ tenant_id_eq: 'acme' }, { tenant_id: 'umbrella', tenant: ACME }, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: ['acme', 'umbrella'] }, false],
  [{ tenant_id_eq: 'acme' }, { tenant: [ACME, { id: 'umbrella' }] }, false],
  [{ tenant_id_eq: 'acme' }, { tenant: [ACME, ACME] }, true],
  [{ tenant_id_eq: 'acme' }, { tenant_id: ['acme', ['umbrella']] }, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: 1, tenant: ACME }, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: '', tenant: ACME }, false],
  // Null, and what is empty, is no value. An object is none that the test passes.
  [{ tenant_id_eq: 'acme' }, { tenant_id: null, tenant: ACME }, true],
  [{ tenant_id_eq: 'acme' }, { tenant_id: [null, {}, []], tenant: ACME }, true],
  [{ tenant_id_eq: 'acme' }, { tenant_id: { name: 'umbrella' }, tenant: ACME }, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: ['acme', { name: 'umbrella' }] }, false],
  [{ tenant_id_eq_any: ['acme', 'initech'] }, { tenant_id: ['acme', 'initech'] }, true],
  [{ tenant_id_eq_any: ['acme', 'initech'] }, { tenant_id: ['acme', 'umbrella'] }, false],
  [{ tenant_id_in: ['acme', 'initech'] }, { tenant_id: ['acme', 'initech'] }, true],
  [{ tenant_id_in: ['acme', 'initech'] }, { tenant_id: ['acme', 'umbrella'] }, false],
  [{ tenant_id_cont_all: ['ac', 'me'] }, { tenant_id: ['acme', 'acne me'] }, true],
  [{ tenant_id_cont_all: ['ac', 'me'] }, { tenant_id: ['acme', 'ac'] }, false],
  [{ tenant_id_start: 'ac' }, { tenant_id: ['acme', 7] }, false],
  [{ n_gteq: '5' }, { n: [5, 6] }, true],
  [{ n_gteq: '5' }, { n: [5, 4] }, false],
  [{ open_true: '1' }, { open: [true, true] }, true],
  [{ open_true: '1' }, { open: [true, false] }, false],
  [{ open_false: '1' }, { open: [true, false] }, false],
  // The others keep their meaning.
  [{ tenant_id_not_eq: 'acme' }, { tenant_id: ['umbrella', 'acme'] }, false],
  [{ tenant_id_not_eq: 'acme' }, { tenant_id: ['umbrella', 'initech'] }, true],
  [{ tenant_id_not_null: '1' }, { tenant_id: [null, 'x'] }, true],
  [{ tenant_id_present: '1' }, { tenant_id: ['', 'x'] }, true],
  [{ tenant_id_blank: '1' }, { tenant_id: ['', 'x'] }, false],
  [{ tenant_id_null: '1' }, { tenant: { id: null } }, true],
  [{ '*_cont': 'acme' }, { a: 'acme', b: 'umbrella' }, true],
  // Each name of `_or_` is a condition of its own.
  [{ a_or_b_eq: 'x' }, { a: 'x', b: 'y' }, true],
  [{ a_or_b_eq: 'x' }, { a: ['x', 'z'], b: 'y' }, false],
  [{ a_or_b_eq: 'x' }, { a_or_b: ['x', 'z'], a: 'x' }, false],
  [{ g: { 0: { m: 'or', a_eq: 'x', b_eq: 'x' } } }, { a: ['x', 'y'] }, false],
  [{ tenant_id_eq: 'acme' }, { tenant_id: MANY }, true],
  [{ tenant_id_eq: 'acme' }, { tenant_id: [...MANY, 'umbrella'] }, false],
  [{ tenant_id_cont_any: ['acme', 'z'] }, { tenant_id: MANY }, true],
]

describe('a positive condition of `visible` holds for every value', () => {
  it.each(CASES)('%j, %#', (visible, attributes, isVisible) => {
    const where = parseVisible(visible)
    const event = eventWith(attributes)
    expect(compileFilter(where)(event)).toBe(isVisible)
    const decision = compileWhereInSteps(eventAttributes, where)(event)
    expect(typeof decision === 'boolean' ? decision : finishSteps(decision)).toBe(isVisible)
  })

  it('of the source and an attribute of that name', () => {
    const matches = compileFilter(parseVisible({ source_start: '/a/' }))
    expect(matches(eventWith({}, '/a/1'))).toBe(true)
    expect(matches(eventWith({ source: '/b/1' }, '/a/1'))).toBe(false)
  })
})
