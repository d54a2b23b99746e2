import { describe, expect, it } from 'vitest'
import { parseTraceparent } from '../../../src/http/record/trace-context.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const ids = { trace_id: TRACE, span_id: SPAN }

describe('parseTraceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-00`],
    [`00-${TRACE}-${SPAN}-ff`],
    [`01-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-what-is-to-come`],
    [`fe-${TRACE}-${SPAN}-01-`],
  ])('reads %s', (header) => {
    expect(parseTraceparent(header)).toEqual(ids)
  })

  it.each([
    [''],
    [`ff-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-01-more`],
    [`00-${TRACE}-${SPAN}-01-`],
    [`01-${TRACE}-${SPAN}-01.more`],
    [`00-${'0'.repeat(32)}-${SPAN}-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`],
    [`00-${TRACE.slice(1)}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}0-01`],
    [`00-${TRACE}-${SPAN}-1`],
    [`00-${TRACE}-${SPAN}`],
    [`0-${TRACE}-${SPAN}-01`],
    [`0g-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    [` 00-${TRACE}-${SPAN}-01`],
  ])('finds nothing in %s', (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })
})
