import { Problem } from '../problem.js'
import { mayChange } from '../users.js'

export function refuseReaders(username: string): void {
  if (!mayChange(username))
    throw new Problem(403, 'READ_ONLY', `${username} may read but not change anything`)
}
