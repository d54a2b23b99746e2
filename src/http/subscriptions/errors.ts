import { withPlace as withPlaceOf } from '../managing/errors.js'

/** Members that are called differently over HTTP. */
const toWireName = (text: string): string => text.replace('whenStuck', 'when_stuck')

/** Waits for a call of the log. Makes the pointers of its errors relative to the document, where the resource is at `place`. */
export const withPlace = <Value>(place: string, call: () => Promise<Value>): Promise<Value> =>
  withPlaceOf(place, call, toWireName)
