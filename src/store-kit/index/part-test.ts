import type { IndexFilter } from './index-filter.js'
import type { IndexPart } from './part.js'

/** False if it is known, without reading, that no event of the part can match a filter. */
export type PartTest = (part: IndexPart) => boolean

/** `undefined` if no part can be excluded for this filter. Compile once, call for many parts. */
export function compilePartTest(filter: IndexFilter | undefined): PartTest | undefined {
  if (!filter) return undefined
  if ('parts' in filter) {
    const tests = filter.parts.map(compilePartTest)
    const known = tests.filter((test) => test !== undefined)
    if (filter.combinator === 'and')
      return known.length > 0 ? (part) => known.every((test) => test(part)) : undefined
    return known.length === tests.length ? (part) => known.some((test) => test(part)) : undefined
  }
  if (!('find' in filter) || filter.find.by !== 'values') return undefined
  const { name, find } = filter
  const [value, ...others] = find.values
  if (value === undefined || others.length > 0)
    return (part) => find.values.some((value) => part.mayHave?.(name, value) ?? true)
  return (part) => part.mayHave?.(name, value) ?? true
}
