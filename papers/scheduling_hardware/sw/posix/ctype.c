/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

int isdigit(int byte)
{
    return byte >= '0' && byte <= '9';
}

int islower(int byte)
{
    return byte >= 'a' && byte <= 'z';
}

int isupper(int byte)
{
    return byte >= 'A' && byte <= 'Z';
}

int isalpha(int byte)
{
    return islower(byte) || isupper(byte);
}

int isalnum(int byte)
{
    return isalpha(byte) || isdigit(byte);
}

int isblank(int byte)
{
    return byte == ' ' || byte == '\t';
}

int isspace(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

int isprint(int byte)
{
    return byte >= ' ' && byte <= '~';
}

int isgraph(int byte)
{
    return byte > ' ' && byte <= '~';
}

int ispunct(int byte)
{
    return isgraph(byte) && !isalnum(byte);
}

int iscntrl(int byte)
{
    return (byte >= 0 && byte < ' ') || byte == 0x7f;
}

int isxdigit(int byte)
{
    return isdigit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

int tolower(int byte)
{
    return isupper(byte) ? byte + ('a' - 'A') : byte;
}

int toupper(int byte)
{
    return islower(byte) ? byte - ('a' - 'A') : byte;
}
