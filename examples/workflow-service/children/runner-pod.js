import { setTimeout as delay } from 'node:timers/promises'
import { serve } from './serve.js'

/* The runner pod of a change. A stubborn one does not stop when it is asked to. */

if (process.argv[2] === 'stubborn') process.on('SIGTERM', () => {})

serve({ run: (ms) => delay(ms, 'done') })
