import type { JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { sealedParts } from '../../../src/event/personal.js'
import { searchedAttributes } from '../../../src/event/searched.js'

const SUBJECT = 'abcdefghijklmnopqr-_09'
const DATA = 'A'.repeat(38)
const sealed = { subject: SUBJECT, data: DATA }

describe('sealed parts', () => {
  it('are found in an array of them', () => {
    expect(sealedParts({ n: 1, personal: [sealed] })).toEqual([sealed])
    expect(sealedParts({ personal: [sealed, { ...sealed, data: `${DATA}-_` }] })).toHaveLength(2)
  })

  it.each<[name: string, personal: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an object', sealed],
    ['an empty array', []],
    ['an array in an array', [[sealed]]],
    ['another element', [sealed, null]],
    ['another member', [{ ...sealed, n: 1 }]],
    ['no data', [{ subject: SUBJECT }]],
    ['an event as it is read', [{ subject: SUBJECT, sealed: true }]],
    ['a number as subject', [{ ...sealed, subject: 1 }]],
    ['a short subject', [{ ...sealed, subject: SUBJECT.slice(1) }]],
    ['a long subject', [{ ...sealed, subject: `${SUBJECT}a` }]],
    ['a subject with a line break', [{ ...sealed, subject: `${SUBJECT}\n` }]],
    ['data without room for a tag', [{ ...sealed, data: DATA.slice(1) }]],
    ['data that is no base64url', [{ ...sealed, data: `${DATA}=` }]],
    ['data with a line break', [{ ...sealed, data: `${DATA}\n` }]],
  ])('are not found in %s', (_, personal) => {
    const attributes = { n: 1, personal } as JsonObject
    expect(sealedParts(attributes)).toBeUndefined()
    expect(searchedAttributes(attributes)).toBe(attributes)
  })

  it('are not found in a prototype', () => {
    expect(sealedParts(Object.create({ personal: [sealed] }) as JsonObject)).toBeUndefined()
  })

  it('keep their subjects for queries, at their place', () => {
    const attributes = { a: 1, personal: [sealed], z: { personal: [sealed] } }
    expect(JSON.stringify(searchedAttributes(attributes))).toBe(
      JSON.stringify({ ...attributes, personal: [{ subject: SUBJECT }] }),
    )
    expect(attributes.personal).toEqual([sealed])
  })
})
