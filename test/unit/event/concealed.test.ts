import { expect, it } from 'vitest'
import { concealer } from '../../../src/event/concealed.js'

it('leaves out the text of a cut object, if a concealed name leads into it', () => {
  const change = { op: 'add', path: '/body', value: '{"email":"ann', cut_bytes: 9 }
  const other = { ...change, path: '/n' }
  const event = {
    ...{ id: '', created_at: '', username: null, system: true, type: 't', source: null },
    attributes: { changes: [change, other] },
  }
  expect(concealer(['body_email'])(event).attributes).toEqual({
    changes: [{ op: 'add', path: '/body', cut_bytes: 9 }, other],
  })
})
