import { describe, expect, it } from 'vitest'
import {
  type Condition,
  faultsOf,
  placeOf,
  retryMsOf,
  sealOf,
} from '../../../../adapters/page/ledger/condition.js'

const END = '2026-03-02T10:00:00.000005Z'

describe('the seal of an event', () => {
  it.each([
    [END, END, false, 'within'],
    [END, '2026-03-02T10:00:00.000004Z', false, 'within'],
    [END, '2026-03-02T10:00:00.000006Z', false, 'waiting'],
    [null, '2020-01-01T00:00:00.000000Z', false, 'waiting'],
    [END, '2020-01-01T00:00:00.000000Z', true, 'open'],
  ] as const)('sealed until %s, created at %s, open %s: %s', (until, at, isOpen, seal) => {
    expect(sealOf({ sealed_until: until }, at, isOpen)).toBe(seal)
  })
})

const WELL: Condition = {
  state: 'sealing',
  size: 12,
  sealed_until: END,
  waiting: 0,
  waiting_since: null,
  origin: 'audit.example.com/orders',
  vkey: 'audit.example.com/orders+00000000+AA==',
  verification: { at: END, result: 'intact', event_count: 11, finding_count: 0 },
  anchors: [{ name: 'worm', size: 12, at: END }],
  now: Date.parse('2026-03-02T10:02:00Z'),
}

describe('the faults of the ledger', () => {
  const verification = { ...WELL.verification!, finding_count: 2 }
  it.each<[string, Partial<Condition>, readonly string[]]>([
    ['none', {}, []],
    ['another process seals', { state: 'standby' }, []],
    ['a process without a signer', { state: 'no-signer', anchors: [] }, []],
    ['never verified', { verification: null }, []],
    ['acknowledged findings', { verification }, []],
    [
      'only self-consistent',
      { verification: { ...verification, result: 'self-consistent', finding_count: 0 } },
      [],
    ],
    ['an anchor before its first head', { anchors: [{ name: 'worm', size: 0, at: null }] }, []],
    ['one minute of waiting', { waiting: 1, waiting_since: '2026-03-02T10:01:00.000000Z' }, []],
    [
      'more than a minute of waiting',
      { waiting: 1, waiting_since: '2026-03-02T10:00:59.000000Z' },
      ['warn behind 2026-03-02T10:00:59.000000Z'],
    ],
    ['a failed attempt', { state: 'failed' }, ['warn failed']],
    [
      'an anchor that fails',
      { anchors: [...WELL.anchors, { name: 's3', size: 0, at: null, error: 'away' }] },
      ['warn anchor s3 away'],
    ],
    [
      'all of them, the worst first',
      {
        state: 'diverged',
        waiting_since: END,
        verification: { ...verification, result: 'tampered' },
        anchors: [{ name: 's3', size: 0, at: null, error: 'away' }],
      },
      ['error diverged', `error tampered ${END} 2`, 'warn anchor s3 away', `warn behind ${END}`],
    ],
  ])('%s', (_name, differs, expected) => {
    const faults = faultsOf({ ...WELL, ...differs })
    expect(
      faults.map(({ level, kind, about, detail }) =>
        [level, kind, about, detail].filter(Boolean).join(' '),
      ),
    ).toEqual(expected)
  })
})

describe('the place of a proof', () => {
  const proof = (...lines: string[]): string =>
    ['c2sp.org/tlog-proof@v1', ...lines, '', 'audit.example.com/orders', '9', 'AA==', ''].join('\n')
  it.each([
    ['with hashes', proof('extra AA==', 'index 3', 'AA==', 'BB=='), { index: 3, size: 9 }],
    ['of the only leaf', proof('extra AA==', 'index 0'), { index: 0, size: 9 }],
    ['without an index', proof('extra AA=='), undefined],
    ['of another format', `x${proof('extra AA==', 'index 3')}`, undefined],
    ['of a sign-in page', '<!doctype html>\nindex 3\n\nx\n9\n', undefined],
  ])('%s', (_name, text, place) => {
    expect(placeOf(text)).toEqual(place)
  })
})

it.each([
  [null, 1000],
  ['', 1000],
  ['1', 1000],
  ['7', 7000],
  ['0', 1000],
  ['-3', 1000],
  ['1e9', 60_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
])('Retry-After %o means %i ms', (header, ms) => {
  expect(retryMsOf(header)).toBe(ms)
})
