import type { Command } from '../call/command.js'

export const doctor: Command = {
  name: 'doctor',
  summary: 'check versions, rights, disk, clock and settings',
  description:
    'Checks what the log depends on, and says what to do about each fault. It names attributes of the newest 1000 events that mostly have one value and sometimes several: a condition of `visible` on them hides the events with several. With --config, it also checks the ledger, and names types with personal attributes that are stored readable, or whose persons have readable names as ids. It changes nothing. The exit code is 1 if a check failed; warnings do not count.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres'],
  examples: [{ run: 'daybook doctor postgres://localhost/app', says: 'check a log on Postgres' }],
  load: () => import('../run/doctor.js'),
}
