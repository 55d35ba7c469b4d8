/* SPDX-License-Identifier: MIT
 *
 * pages.c: see pages.h. HTML goes only to who asks for it by name, as browsers do; pages are
 * complete in themselves, and their policy lets them speak to this server alone.
 */
#include "pages.h"
#include "assets.h"
#include "document.h"
#include "http/negotiate.h"
#include "http/problem.h"
#include "http/reply.h"

#define POLICY                                                                                \
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src " \
    "'self'; "                                                                                \
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char cheat_sheet[] =
    "posenc: position tables for transformers, every value correctly rounded\n"
    "\n"
    "  curl -O  HOST/v1/tables/sinusoidal.npy?length=2048&width=512\n"
    "  curl -O  HOST/v1/tables/rope.safetensors?length=4096&width=128&base=500000&dtype=bf16\n"
    "  curl     HOST/v1/tables/rope.txt?length=4&width=8\n"
    "  curl     HOST/v1/tables/sinusoidal.csv?positions=0,7,4096-4099&width=4\n"
    "  curl     HOST/v1/tables/alibi.json?width=8\n"
    "  curl     HOST/v1/tables/t5.json?queries=4&length=8\n"
    "  curl     HOST/v1/tables/rope/frequencies.json?width=64&rope_type=linear&factor=4\n"
    "  curl     HOST/v1/tables/sinusoidal/shift.txt?width=4&offset=1\n"
    "  curl     HOST/v1/tables/sinusoidal.bin -H 'Content-Type: application/json' \\\n"
    "           -d '{\"positions\":[[0,1,2],[7,8,9]],\"width\":64}' -o rows.bin\n"
    "\n"
    "Formats: .json .npy .npz .safetensors .bin .csv .txt, or Accept, or format=.\n"
    "Kinds and parameters: /v1/kinds   Service: /v1   API: /openapi.json, /docs\n"
    "Health: /livez /readyz   Metrics: /metrics\n"
    "Quote URLs in a shell: & and ? are its own characters.\n";

static bool html(struct api__call *call, const char *vary, struct api_bytes page)
{
    if (!api__document(call, "text/html; charset=utf-8", vary, page))
        return false;
    api__header(call, "Content-Security-Policy", POLICY);
    return true;
}

bool api__root_page(struct api__call *call)
{
    static const struct api__offer offers[] = {{"text/plain", 0, false}, {"text/html", 1, true}};
    if (!api__no_params(call))
        return false;
    int choice = api__negotiate(call->request, offers, 2);
    if (choice < 0) {
        static const char *const types[] = {"text/plain", "text/html"};
        api__refuse(call, API__NOT_ACCEPTABLE, "this page is served as text/plain or text/html");
        call->issue.allowed = types;
        call->issue.allowed_count = 2;
        return false;
    }
    if (choice == 1)
        return html(call, "Accept", api__explorer());
    return api__document(call, "text/plain; charset=utf-8", "Accept",
                         (struct api_bytes){cheat_sheet, sizeof cheat_sheet - 1});
}

bool api__docs_page(struct api__call *call)
{
    return api__no_params(call) && html(call, NULL, api__docs());
}

bool api__openapi_page(struct api__call *call)
{
    return api__no_params(call) && api__document(call, "application/json", NULL, api__openapi());
}

bool api__client_page(struct api__call *call)
{
    return api__no_params(call) &&
           api__document(call, "text/x-python; charset=utf-8", NULL, api__client());
}

bool api__type_page(struct api__call *call)
{
    int id = api__problem_find(call->captures[0]);
    if (!api__no_params(call))
        return false;
    if (id < 0)
        return api__refuse(call, API__NOT_FOUND, "there is no problem of that name");
    return api__document(call, "text/plain; charset=utf-8", NULL,
                         api__problem_page(call, (enum api__problem_id)id));
}

static bool status_page(struct api__call *call, const char *media, enum api_page page)
{
    if (!api__no_params(call))
        return false;
    api__reply_begin(call, 200);
    call->plan->source = API_PAGE;
    call->plan->page = page;
    api__header(call, "Content-Type", media);
    api__header(call, "Cache-Control", "no-store");
    return true;
}

bool api__live_page(struct api__call *call)
{
    return status_page(call, "text/plain; charset=utf-8", API_PAGE_LIVE);
}

bool api__ready_page(struct api__call *call)
{
    return status_page(call, "text/plain; charset=utf-8", API_PAGE_READY);
}

bool api__metrics_page(struct api__call *call)
{
    return status_page(call, "text/plain; version=0.0.4; charset=utf-8", API_PAGE_METRICS);
}
