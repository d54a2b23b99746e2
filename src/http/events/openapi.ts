import { HttpProblem } from '../problem.js'
import type { EventsHandler, EventsSetting } from './handler.js'

/** `GET <path>/openapi.json`: the description of the endpoints. */
export function openApiHandler({ path }: EventsSetting): EventsHandler {
  return () => Promise.reject(new HttpProblem('NOT_FOUND', `${path}/openapi.json is not there yet`))
}
