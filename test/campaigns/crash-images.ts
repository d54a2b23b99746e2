import fc from 'fast-check'
import { crashLog } from '../support/crash-images.js'
import { randomOf } from '../support/random.js'
import type { Campaign } from './run.js'
import { runRounds } from './shared/rounds.js'

/*
 * Images of SQLite logs as a power cut could leave them, ten for each log. No image may lack an acknowledged event.
 */

const IMAGES = 10

export const campaign: Campaign = {
  rounds: 100,
  async run(run) {
    const counts = { images: 0 }
    await runRounds(run, fc.integer(), counts, async (seed) => {
      await crashLog({ random: randomOf(seed), images: IMAGES })
      counts.images += IMAGES
    })
    return counts
  },
}
