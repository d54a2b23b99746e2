import { originalPlaces } from '../../support/ledger-places.js'
import type { StoreName } from '../../support/ledger-world.js'
import { testAttacks } from './ledger-attack-cases.js'

/* All attacks on all stores. */

for (const store of Object.keys(originalPlaces))
  testAttacks(store as StoreName, { restartsAlways: true })
