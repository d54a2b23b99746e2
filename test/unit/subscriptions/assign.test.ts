import { describe, expect, it } from 'vitest'
import { assign, type Peers } from '../../../src/subscriptions/peers.js'

/** `holders` by channel; each process can deliver to the channels of `abilities`. */
const peersOf = (
  abilities: Readonly<Record<string, readonly string[]>>,
  holders: Readonly<Record<string, string | null>>,
): Peers => ({
  deliverers: new Map(
    Object.entries(abilities).map(([id, names]) => {
      const channels = names.map((name) => ({ name, kind: 'function', in_code: true }))
      return [id, { renewals: 1, channels }]
    }),
  ),
  leases: new Map(
    Object.entries(holders).map(([channel, holder]) => [channel, { holder, epoch: 1 }]),
  ),
  revision: 0,
})

const ownedBy = (me: string, { leases }: Peers): Set<string> =>
  new Set(Array.from(leases).flatMap(([channel, { holder }]) => (holder === me ? [channel] : [])))

const all = ['a', 'b', 'c', 'd']

describe('channels are assigned', () => {
  it('all to the only process', () => {
    expect(assign('p', new Set(), peersOf({ p: all }, {}))).toEqual({ claim: all, release: [] })
  })

  it('to no process that cannot deliver to them', () => {
    expect(assign('p', new Set(), peersOf({ p: ['a'], q: ['b'] }, {})).claim).toEqual(['a'])
  })

  it('evenly, each to one process', () => {
    const peers = peersOf({ p: all, q: all }, {})
    const [p, q] = [assign('p', new Set(), peers).claim, assign('q', new Set(), peers).claim]
    expect([...p, ...q].toSorted()).toEqual(all)
    expect(p).toHaveLength(2)
  })

  it('to the only process that can deliver, even if it has more channels than others', () => {
    const peers = peersOf({ p: all, q: ['d'] }, { a: 'p', b: 'p', d: 'q' })
    expect(assign('p', ownedBy('p', peers), peers)).toEqual({ claim: ['c'], release: [] })
  })

  it('to the process with the fewest channels, if their holder has ended or has given them up', () => {
    const peers = peersOf({ p: all, q: all }, { a: 'p', b: 'p', c: 'gone', d: null })
    expect(assign('p', ownedBy('p', peers), peers).claim).toEqual([])
    expect(assign('q', new Set(), peers).claim).toEqual(['c', 'd'])
  })

  it('again to a process after it had lost its heartbeat', () => {
    const peers = peersOf({ p: ['a'] }, { a: 'p' })
    expect(assign('p', new Set(), peers).claim).toEqual(['a'])
    expect(assign('p', new Set(['a']), peers).claim).toEqual([])
  })

  it('so that a process releases channels that another process should have', () => {
    const peers = peersOf({ p: all, q: all }, { a: 'p', b: 'p', c: 'p', d: 'p' })
    expect(assign('p', new Set(all), peers)).toEqual({ claim: [], release: ['a', 'b'] })
    expect(assign('q', new Set(), peers)).toEqual({ claim: [], release: [] })
  })

  it('and stay with their holder while no process has two fewer', () => {
    const peers = peersOf({ p: all, q: all, r: all }, { a: 'p', b: 'p', c: 'q', d: 'r' })
    for (const id of ['p', 'q', 'r'])
      expect(assign(id, ownedBy(id, peers), peers)).toEqual({ claim: [], release: [] })
  })

  it('evenly in the end, from any start', () => {
    const channels = Array.from({ length: 10 }, (_, i) => `c${i}`)
    const holders: Record<string, string | null> = Object.fromEntries(
      channels.map((channel) => [channel, 'p']),
    )
    const abilities = { p: channels, q: channels, r: channels }
    let rounds = 0
    for (let isQuiet = false; !isQuiet; rounds++) {
      expect(rounds).toBeLessThan(10)
      const peers = peersOf(abilities, holders)
      const moves = Object.keys(abilities).map((id) => ({
        id,
        ...assign(id, ownedBy(id, peers), peers),
      }))
      isQuiet = moves.every(({ claim, release }) => claim.length + release.length === 0)
      for (const { id, claim, release } of moves) {
        for (const channel of claim) holders[channel] = id
        for (const channel of release) holders[channel] = null
      }
    }
    const counts = Object.keys(abilities).map(
      (id) => Object.values(holders).filter((holder) => holder === id).length,
    )
    expect(counts.toSorted((a, b) => a - b)).toEqual([3, 3, 4])
  })
})
