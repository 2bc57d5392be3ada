#pragma once
#include <libimobiledevice/libimobiledevice.h>
#include <libimobiledevice/lockdown.h>
#include <libimobiledevice/service.h>
#include <libimobiledevice/property_list_service.h>
#include <libimobiledevice/installation_proxy.h>
#include <libimobiledevice/debugserver.h>
