import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../../../src/event/event.js'
import {
  childCount,
  childNodes,
  nodeCondition,
  preview,
  rootNodes,
  type TreeNode,
} from '../../../../adapters/page/panel/tree-nodes.js'

const root = (key: string, value: JsonValue): TreeNode => rootNodes([[key, value]])[0]!

/** The node at a path of keys. */
const at = (node: TreeNode, ...keys: readonly string[]): TreeNode =>
  keys.reduce((parent, key) => childNodes(parent, 100).find((child) => child.key === key)!, node)

describe('filter names', () => {
  it('join the keys of a path without array indexes', () => {
    const node = root('request_body', { steps: [{ name: 'a' }, { name: 'b' }] })
    expect(at(node, 'steps').name).toBe('request_body_steps')
    expect(at(node, 'steps', '1').name).toBe('request_body_steps')
    expect(at(node, 'steps', '1', 'name').name).toBe('request_body_steps_name')
  })

  it('are empty if filters would address a field of the event', () => {
    expect(nodeCondition(at(root('created', { at: 'x' }), 'at'))).toBeUndefined()
    expect(nodeCondition(root('system', true))).toMatchObject({ attributes: ['system'] })
  })

  it('are empty below an empty key', () => {
    expect(nodeCondition(at(root('a', { '': { b: 1 } }), '', 'b'))).toBeUndefined()
  })
})

describe('nodeCondition', () => {
  it.each([
    ['a text', 'acme', { predicate: 'eq', values: ['acme'] }],
    ['a number', 1e21, { predicate: 'eq', values: ['1e+21'] }],
    ['false', false, { predicate: 'eq', values: ['false'] }],
    ['null', null, { predicate: 'null', values: [] }],
  ])('asks for %s', (_, value, condition) => {
    expect(nodeCondition(root('a', value))).toMatchObject(condition)
  })

  it('negates the condition', () => {
    expect(nodeCondition(root('a', 'acme'), true)).toMatchObject({ predicate: 'not_eq' })
    expect(nodeCondition(root('a', null), true)).toMatchObject({ predicate: 'not_null' })
  })

  it.each([
    ['an object', { b: 1 }],
    ['an array', [1]],
    ['a blank text', ' '],
    ['an empty text', ''],
    ['a text that filters would trim', ' acme'],
    ['a long text', 'x'.repeat(301)],
  ])('has none for %s', (_, value) => {
    expect(nodeCondition(root('a', value))).toBeUndefined()
  })
})

describe('childNodes', () => {
  it('treats __proto__ and similar names as keys', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue
    const [proto, constructor] = childNodes(root('x', value), 100)
    expect(proto).toMatchObject({ key: '__proto__', value: { a: 1 }, name: 'x___proto__' })
    expect(constructor).toMatchObject({ key: 'constructor', value: 2 })
  })

  it('returns at most the given number of children', () => {
    const node = root(
      'list',
      Array.from({ length: 10_000 }, (_, i) => i),
    )
    expect(childNodes(node, 100)).toHaveLength(100)
    expect(childNodes(node, 100)[99]).toMatchObject({ key: '99', value: 99, depth: 1 })
  })

  it('gives every node a different pointer, with any keys', () => {
    const node = root('a', { 'b/c': { d: 1 }, b: { 'c/d': 1 } })
    expect(at(node, 'b/c', 'd').pointer).toBe('/a/b~1c/d')
    expect(at(node, 'b', 'c/d').pointer).toBe('/a/b/c~1d')
  })
})

describe('preview', () => {
  it.each([
    [{ parallel_changes: 8 }, '{ parallel_changes: 8 }'],
    [['a', null], '[ "a", null ]'],
    [{}, '{}'],
    [[], '[]'],
    [{ a: { b: 1 } }, '{ 1 }'],
    [{ text: 'x'.repeat(100) }, '{ 1 }'],
    [[1, 2, 3, 4, 5], '[ 5 ]'],
    [{ first_of_all: 'as long as can be', second: 'and more than that' }, '{ 2 }'],
  ])('summarizes %j', (value, text) => {
    expect(preview(value, false)).toBe(text)
  })

  it('shows only the count for an open node', () => {
    expect(preview({ a: 1 }, true)).toBe('{ 1 }')
    expect(childCount([1, 2])).toBe(2)
  })
})
