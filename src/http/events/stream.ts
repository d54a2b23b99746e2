import { HttpProblem } from '../problem.js'
import type { EventsHandler, EventsSetting } from './handler.js'

/** `GET <path>/stream`: events as they become visible, as server-sent events. */
export function streamHandler({ path }: EventsSetting): EventsHandler {
  return () => Promise.reject(new HttpProblem('NOT_FOUND', `${path}/stream is not there yet`))
}
