import { mkdir, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A harbour in the evening. */
export const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1000" viewBox="0 0 1600 1000">
<defs>
<linearGradient id="sky" x2="0" y2="1"><stop stop-color="#12324a"/><stop offset=".55" stop-color="#d9785b"/><stop offset="1" stop-color="#f6c77d"/></linearGradient>
<linearGradient id="sea" x2="0" y2="1"><stop stop-color="#c8795f"/><stop offset=".3" stop-color="#2b5f6b"/><stop offset="1" stop-color="#0b2b38"/></linearGradient>
</defs>
<rect width="1600" height="620" fill="url(#sky)"/>
<circle cx="1080" cy="560" r="90" fill="#ffe9b8"/>
<path d="M0 610 260 470 430 560 640 430 900 620H0z" fill="#1c3b4d"/>
<path d="M1600 620 1420 500 1290 575 1180 620z" fill="#274a58"/>
<rect y="615" width="1600" height="385" fill="url(#sea)"/>
<g fill="#ffe0a3" opacity=".55"><rect x="990" y="640" width="180" height="7" rx="3"/><rect x="1015" y="672" width="130" height="7" rx="3"/><rect x="965" y="712" width="230" height="8" rx="4"/><rect x="1030" y="762" width="100" height="8" rx="4"/></g>
<path d="M380 700h330l-48 74H436z" fill="#0a1d27"/><path d="M545 690V420l130 255z" fill="#f4efe4"/><path d="M530 690V460L430 675z" fill="#e4dccb"/>
</svg>
`

const notes = `# Crossing, 14 June

06:10  Cast off. Wind south-west, 12 knots.
09:45  Lighthouse abeam, two miles.
13:20  Anchor down in six metres. Holding fast.
`

const crew = `Name,Duty,Watch,Telephone
Ana Lind,Skipper,first,+46 70 111 22 33
Bo Ek,Mate,second,+46 70 222 33 44
Cara Juhl,Engineer,first,+45 20 33 44 55
Dan Moe,Cook,second,+47 90 44 55 66
Eva Ros,Deckhand,third,+46 70 555 66 77
`

const tides = `Day    High    Low     High    Low
Mon    04:12   10:31   16:40   22:55
Tue    05:01   11:18   17:29   23:41
Wed    05:52   12:07   18:20
Thu    00:30   06:45   13:01   19:14
`

/** The files of the customer in the pictures: name, bytes or text, and when it was changed. */
const samples: readonly (readonly [string, number | string, string])[] = [
  ['Anchorages chart.pdf', 4_812_330, '2026-06-02T09:12:00'],
  ['Budget 2026.xlsx', 88_214, '2026-05-28T16:40:00'],
  ['Crew list.csv', crew, '2026-06-11T08:05:00'],
  ['Evening in the harbour.svg', drawing, '2026-06-14T21:37:00'],
  ['Foghorn.mp3', 1_204_551, '2026-04-19T11:20:00'],
  ['Insurance, policy and annexes of the whole fleet.pdf', 912_004, '2026-01-09T10:00:00'],
  ['Logbook.md', notes, '2026-06-14T22:02:00'],
  ['Passage planning.docx', 146_820, '2026-06-01T19:31:00'],
  ['photos - 2026 - cliffs at noon.jpg', 3_845_120, '2026-06-13T12:04:00'],
  ['photos - 2026 - lighthouse.jpg', 4_120_448, '2026-06-14T09:47:00'],
  ['photos - 2026 - under sail.jpg', 5_311_900, '2026-06-14T11:15:00'],
  ['Sail repair.mp4', 184_300_200, '2026-03-30T15:26:00'],
  ['spare parts.zip', 23_118_870, '2026-02-17T13:50:00'],
  ['Tide tables.txt', tides, '2026-01-02T07:00:00'],
]

/** Writes them as the disk store keeps them, below its directory of a customer. */
export async function writeSamples(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [name, content, changed] of samples) {
    const path = join(folder, name)
    await writeFile(path, typeof content === 'string' ? content : '')
    if (typeof content === 'number') await truncate(path, content)
    await utimes(path, new Date(changed), new Date(changed))
  }
}
