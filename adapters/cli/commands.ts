import type { Command } from './call/command.js'
import { checkProof } from './commands/check-proof.js'
import { checkpoint } from './commands/checkpoint.js'
import { clean } from './commands/clean.js'
import { count } from './commands/count.js'
import { doctor } from './commands/doctor.js'
import { erase } from './commands/erase.js'
import { erasures } from './commands/erasures.js'
import { exportCommand } from './commands/export.js'
import { get } from './commands/get.js'
import { importCommand } from './commands/import.js'
import { keygen } from './commands/keygen.js'
import { keysRotate } from './commands/keys.js'
import { list } from './commands/list.js'
import { migrate } from './commands/migrate.js'
import { prove } from './commands/prove.js'
import { rebuild } from './commands/rebuild.js'
import { serve } from './commands/serve.js'
import { stats } from './commands/stats.js'
import { subjectReport } from './commands/subject-report.js'
import { subscriptions } from './commands/subscriptions.js'
import { tail } from './commands/tail.js'
import { verify } from './commands/verify.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  list,
  get,
  count,
  tail,
  exportCommand,
  serve,
  stats,
  ...subscriptions,
  importCommand,
  clean,
  erase,
  erasures,
  subjectReport,
  keysRotate,
  verify,
  checkpoint,
  prove,
  keygen,
  checkProof,
  migrate,
  rebuild,
  doctor,
]
