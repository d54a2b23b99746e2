import { it } from 'vitest'
import { crashLog } from '../../support/crash-images.js'
import { randomOf } from '../../support/random.js'

it.each([1, 2, 3, 4])('a power cut takes no acknowledged event, %i', (seed) =>
  crashLog({ random: randomOf(seed), images: 10 }),
)
