import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  leafHashOf,
  rootFromInclusion,
  rootsFromConsistency,
} from '../../../src/ledger/check-tree.js'
import { edgeOf, grow as growEdge, rootAt } from '../../../src/ledger/edge.js'
import {
  completedNodes,
  consistencyPath,
  inclusionPath,
  leafHash,
  nodeHash,
  type ReadNode,
  rootOf,
} from '../../../src/ledger/tree.js'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const sha256 = (...parts: readonly (string | Uint8Array)[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The largest power of two below `n`. */
const splitOf = (n: number): number => 2 ** Math.floor(Math.log2(n - 1))

const memory = new Map<string, Uint8Array>()
/** The definitions of RFC 6962, section 2.1, on the leaves from `from` to `to`, in the order of the text. */
function rfcRoot(from: number, to: number): Uint8Array {
  const key = `${from}-${to}`
  const known = memory.get(key)
  if (known) return known
  const k = splitOf(to - from)
  const made =
    to - from === 0
      ? sha256()
      : to - from === 1
        ? leafHash(`leaf ${from}`)
        : sha256(Uint8Array.of(1), rfcRoot(from, from + k), rfcRoot(from + k, to))
  memory.set(key, made)
  return made
}
function rfcPath(m: number, from: number, to: number): Uint8Array[] {
  if (to - from === 1) return []
  const k = splitOf(to - from)
  return m < k
    ? [...rfcPath(m, from, from + k), rfcRoot(from + k, to)]
    : [...rfcPath(m - k, from + k, to), rfcRoot(from, from + k)]
}
function rfcProof(m: number, from: number, to: number, isWhole = true): Uint8Array[] {
  if (m === to - from) return isWhole ? [] : [rfcRoot(from, to)]
  const k = splitOf(to - from)
  return m <= k
    ? [...rfcProof(m, from, from + k, isWhole), rfcRoot(from + k, to)]
    : [...rfcProof(m - k, from + k, to, false), rfcRoot(from, from + k)]
}

const MAX = 300
const nodes = new Map<string, Uint8Array>()
/** A tree that grows by `step` leaves at a time. */
function grow(step: number): void {
  nodes.clear()
  for (let size = 0; size < MAX; size += step) {
    const hashes = Array.from({ length: Math.min(step, MAX - size) }, (_, i) =>
      leafHash(`leaf ${size + i}`),
    )
    const made = completedNodes(size, hashes, read)
    for (const [i, hash] of hashes.entries()) nodes.set(`0/${size + i}`, hash)
    for (const { level, index, hash } of made) nodes.set(`${level}/${index}`, hash)
  }
}
const read: ReadNode = (level, index) => {
  const node = nodes.get(`${level}/${index}`)
  if (!node) throw new Error(`node ${level}/${index} is not complete`)
  return node
}
/** A reader of a tree of this size, which has no node beyond it. */
const within =
  (size: number): ReadNode =>
  (level, index) => {
    if ((index + 1) * 2 ** level > size) throw new Error(`node ${level}/${index} is beyond ${size}`)
    return read(level, index)
  }

/** Leaves and roots of the tests of Certificate Transparency, which many implementations of RFC 6962 share. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
LEAVES.push('606162636465666768696a6b6c6d6e6f')
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

describe('the tree', () => {
  it('has the roots of the vectors of Certificate Transparency', () => {
    const hashes = LEAVES.map((leaf) => leafHash(Buffer.from(leaf, 'hex')))
    const inner = completedNodes(0, hashes, read)
    const at: ReadNode = (level, index) =>
      level === 0
        ? hashes[index]!
        : inner.find((node) => node.level === level && node.index === index)!.hash
    expect(ROOTS.map((_, size) => hex(rootOf(size, at)))).toEqual(ROOTS)
  })

  it('hashes leaves and nodes alike with node:crypto and with Web Crypto', async () => {
    for (const entry of ['', 'event {"id":"ä"}', Uint8Array.of(0, 255)])
      expect(hex(await leafHashOf(entry))).toBe(hex(leafHash(entry)))
    const [left, right] = [leafHash('a'), leafHash('b')]
    expect(hex(nodeHash(left, right))).toBe(hex(sha256(Uint8Array.of(1), left, right)))
  })

  it.each([1, 2, 7, 64, 255, 256, 257, MAX])(
    'gets the same nodes by %i leaves at a time',
    (step) => {
      grow(step)
      const complete = Array.from({ length: 9 }, (_, level) => Math.floor(MAX / 2 ** level))
      expect(nodes.size).toBe(complete.reduce((sum, count) => sum + count))
      for (const [key, hash] of nodes) {
        const [level, index] = key.split('/').map(Number) as [number, number]
        expect(hex(hash)).toBe(hex(rfcRoot(index * 2 ** level, (index + 1) * 2 ** level)))
      }
    },
  )

  it('has the same edge by any number of leaves at a time', () => {
    grow(MAX)
    const leaves = Array.from({ length: MAX }, (_, i) => read(0, i))
    for (const from of [0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 257])
      for (const to of [from, from + 1, from + 2, from + 5, 256, 259, MAX]) {
        if (to < from) continue
        const { edge } = growEdge(edgeOf(from, within(from)), leaves.slice(from, to))
        expect(edge).toEqual(edgeOf(to, within(to)))
        expect(hex(rootAt(edge))).toBe(hex(rfcRoot(0, to)))
      }
  })

  it('has the roots and the inclusion paths of RFC 6962 at every size, from complete nodes', () => {
    grow(MAX)
    for (let size = 0; size <= MAX; size++) {
      expect(hex(rootOf(size, within(size)))).toBe(hex(rfcRoot(0, size)))
      for (let index = 0; index < size; index += size < 40 ? 1 : 7)
        expect(inclusionPath(index, size, within(size)).map(hex)).toEqual(
          rfcPath(index, 0, size).map(hex),
        )
    }
  })

  it('has the consistency paths of RFC 6962 between any two sizes', () => {
    grow(MAX)
    for (let to = 1; to <= MAX; to += to < 40 ? 1 : 13)
      for (let from = 1; from <= to; from++)
        expect(consistencyPath(from, to, within(to)).map(hex)).toEqual(
          rfcProof(from, 0, to).map(hex),
        )
    expect(consistencyPath(0, 5, read)).toEqual([])
  })

  it('leads from each path back to the roots, and from no path of another length', async () => {
    grow(MAX)
    for (const size of [1, 2, 3, 6, 7, 8, 33, MAX])
      for (let index = 0; index < size; index += size < 40 ? 1 : 23) {
        const path = inclusionPath(index, size, read)
        const leaf = read(0, index)
        const root = async (hashes: readonly Uint8Array[]): Promise<string | undefined> => {
          const found = await rootFromInclusion(leaf, index, size, hashes)
          return found && hex(found)
        }
        expect(await root(path)).toBe(hex(rfcRoot(0, size)))
        expect(await root([...path, leaf])).toBeUndefined()
        if (path.length > 0) expect(await root(path.slice(1))).toBeUndefined()
        if (path.length > 1) expect(await root(path.toReversed())).not.toBe(hex(rfcRoot(0, size)))
      }
    for (const to of [2, 3, 8, 31, 32, MAX])
      for (let from = 1; from < to; from += to < 40 ? 1 : 19) {
        const path = consistencyPath(from, to, read)
        const tree = { size: from, root: rfcRoot(0, from) }
        const roots = await rootsFromConsistency(tree, to, path)
        expect([roots!.from, roots!.to].map(hex)).toEqual(
          [rfcRoot(0, from), rfcRoot(0, to)].map(hex),
        )
        expect(await rootsFromConsistency(tree, to, [...path, path[0]!])).toBeUndefined()
        expect(await rootsFromConsistency(tree, to, path.slice(1))).toBeUndefined()
      }
  })

  it('refuses positions that no tree has', async () => {
    grow(MAX)
    expect(() => inclusionPath(5, 5, read)).toThrow(RangeError)
    expect(() => inclusionPath(-1, 5, read)).toThrow(RangeError)
    expect(() => consistencyPath(6, 5, read)).toThrow(RangeError)
    const leaf = read(0, 0)
    expect(await rootFromInclusion(leaf, 1, 1, [])).toBeUndefined()
    expect(await rootFromInclusion(leaf, 0, 0, [])).toBeUndefined()
    expect(await rootFromInclusion(leaf, 0, 2, [leaf.subarray(1)])).toBeUndefined()
    expect(await rootsFromConsistency({ size: 0, root: leaf }, 3, [])).toBeUndefined()
    expect(await rootsFromConsistency({ size: 3, root: leaf }, 3, [])).toBeUndefined()
  })

  it('computes positions above 2 ** 32', async () => {
    const size = 2 ** 52 + 3
    const at: ReadNode = (level, index) => leafHash(`${level}/${index}`)
    for (const index of [0, 2 ** 40 + 1, size - 1]) {
      const path = inclusionPath(index, size, at)
      expect(hex((await rootFromInclusion(at(0, index), index, size, path))!)).not.toBe('')
    }
    // Nodes of this tree are not hashes of their children, except those at the right edge.
    const last = inclusionPath(size - 1, size, at)
    expect(last.map(hex)).toEqual([at(1, 2 ** 51), at(52, 0)].map(hex))
    expect(hex((await rootFromInclusion(at(0, size - 1), size - 1, size, last))!)).toBe(
      hex(rootOf(size, at)),
    )
  })
})
