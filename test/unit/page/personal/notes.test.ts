import type { JsonObject } from 'daybook'
import { expect, it } from 'vitest'
import { hiddenNotes, personalNotes } from '../../../../adapters/page/personal/notes.js'

const REF = 'AbCdEfGhIjKlMnOpQrSt_-'
const OTHER = 'ZbCdEfGhIjKlMnOpQrSt_-'

it('reads the notes of an event, and those whose values are not there', () => {
  const personal = [
    { subject: REF },
    { subject: OTHER, sealed: true },
    { subject: OTHER, erased: '2026-11-30T10:00:00.000Z' },
  ]
  expect(personalNotes({ attributes: { personal } })).toEqual(personal)
  expect(hiddenNotes({ attributes: { personal } })).toEqual(personal.slice(1))
})

it.each<readonly [string, JsonObject]>([
  ['no attribute', {}],
  ['a text', { personal: 'yes' }],
  ['an object', { personal: { subject: REF } }],
  ['a list of texts', { personal: [REF] }],
  ['a short ref', { personal: [{ subject: 'ann' }] }],
  ['another member', { personal: [{ subject: REF, sealed: true, name: 'Ann' }] }],
  ['another value of sealed', { personal: [{ subject: REF, sealed: 'yes' }] }],
  ['a time that is none', { personal: [{ subject: REF, erased: 'soon' }] }],
  ['a list with something else', { personal: [{ subject: REF }, null] }],
])('leaves data of the host as it is: %s', (_name, attributes) => {
  expect(personalNotes({ attributes })).toEqual([])
  expect(hiddenNotes({ attributes })).toEqual([])
})
