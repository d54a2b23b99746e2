import type { PersonalForm } from '../../reading/personal-values.js'
import { PERSONAL_FORMS } from '../openapi/parameters.js'
import { extractParameters, invalidParameter, readSingleValues } from '../parameters.js'
import type { HttpResponse } from '../exchange.js'
import type { EventsRoute } from './routes.js'

const PERSONAL = 'personal'

/** A query without the parameter `personal`, and its value. */
export interface PersonalRequest {
  readonly personal: PersonalForm
  readonly rest: string
}

/** Reads the parameter of a route that has it. Throws `INVALID_VALUE`. */
export function extractPersonal(
  { query = [], form = [] }: EventsRoute,
  sent: string,
): PersonalRequest {
  const isTaken = [...query, ...form].includes(PERSONAL)
  if (!isTaken || !sent.includes(PERSONAL)) return { personal: 'sealed', rest: sent }
  const { extracted, rest } = extractParameters(sent, (name) => name === PERSONAL)
  const asked = readSingleValues(extracted).get(PERSONAL)
  const personal = PERSONAL_FORMS.find((form) => form === (asked ?? 'sealed'))
  if (personal) return { personal, rest }
  throw invalidParameter(PERSONAL, `must be ${PERSONAL_FORMS.join(', ')}`)
}

/** The parameter for links; empty for the default. */
export const formatPersonal = (personal: PersonalForm): string =>
  personal === 'sealed' ? '' : `${PERSONAL}=${personal}`

/** The response without an entity tag, so that no cache keeps opened values. */
export function notCached(response: HttpResponse): HttpResponse {
  const { etag: _, ...headers } = response.headers
  return { ...response, headers: { ...headers, 'cache-control': 'no-store' } }
}
