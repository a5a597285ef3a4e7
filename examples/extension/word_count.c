/* word_count(text): the number of words, which are separated by spaces and line ends. */
#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(word_count);

Datum
word_count(PG_FUNCTION_ARGS)
{
	text	   *given = PG_GETARG_TEXT_PP(0);
	const char *at = VARDATA_ANY(given);
	const char *end = at + VARSIZE_ANY_EXHDR(given);
	bool		inside = false;
	int32		words = 0;

	for (; at < end; at++)
	{
		bool		separates = *at == ' ' || *at == '\n' || *at == '\t' || *at == '\r';

		words += !separates && !inside;
		inside = !separates;
	}
	PG_RETURN_INT32(words);
}
